/** The lowest and highest of some ids: lets PostgreSQL leave out the partitions of other days. */
export const bounds = (ids: string[]) => {
  const sorted = [...ids].sort();
  return [sorted[0], sorted.at(-1)];
};
