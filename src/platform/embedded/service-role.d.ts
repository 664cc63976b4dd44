/** Whom the service logs in as; it owns the database and what is in it, and nothing else of the server. */
export declare const serviceRole = "parcelhook_service";
/**
 * The statements that make the role, in one transaction, and give it the database. What is in there belongs to the
 * superuser where an earlier version made it. Harmless where all that is done.
 */
export declare const makeServiceRole: (database: string, password: string) => string;
