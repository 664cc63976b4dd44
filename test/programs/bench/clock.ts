/** Monotonic and shared by all processes: comparable even if the time of day is changed. */
export function now(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}
