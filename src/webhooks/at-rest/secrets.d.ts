/** What a text belongs to; a sealed one opens nowhere else. Both secrets of a rotation are the field `secret`. */
export interface SealedField {
    webhookId: string;
    field: string;
}
/** Keeps texts encrypted at rest: AES-256-GCM; a sealed text names its form and its key, so both can change. */
export interface SecretBox {
    /** Every text sealed with the current key begins with this. */
    prefix: string;
    seal(text: string, where: SealedField): string;
    /** Throws where the text was sealed with neither key, was changed, or belongs elsewhere. */
    open(sealed: string, where: SealedField): string;
}
/** A new signing secret as Standard Webhooks wants it: `whsec_` and 32 random bytes in base64. */
export declare const newSecret: () => string;
/** What is sealed begins with this. Before there were forms, it began with its key and was bound to no field. */
export declare const sealedForm = "2:";
/** Seals with `secretsKey`; opens what was sealed with it or with `otherKey`. */
export declare function createSecretBox(secretsKey: string, otherKey?: string): SecretBox;
