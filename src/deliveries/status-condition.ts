/**
 * The deliveries of a webhook in one status. Each delivery is in one of the indexes open, succeeded and ended badly;
 * each condition is written so that it can be served by the index meant and by no other.
 */
export const byStatus = {
  PENDING: `completed_at is null and status = 'PENDING'`,
  HELD: `completed_at is null and status = 'HELD'`,
  FAILED: `status in ('FAILED', 'CANCELLED') and status = 'FAILED'`,
  CANCELLED: `status in ('FAILED', 'CANCELLED') and status = 'CANCELLED'`,
  SUCCEEDED: `status = 'SUCCEEDED'`,
};

/** Whoever wants deliveries of any status in their order asks once for each. */
export const everyStatus: readonly string[] = Object.values(byStatus);
