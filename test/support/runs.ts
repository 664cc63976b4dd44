/**
 * How many runs a property, or how many simulated milliseconds a simulation, gets: a few in `npm test`, enough to find
 * the usual bug; all of them with TEST_RUNS=full, in `npm run test:all`.
 */
export const runs = (all: number, few = Math.ceil(all / 10)): number =>
  process.env.TEST_RUNS === 'full' ? all : few;

/** Of cases that differ in where a statement stops: every other one in `npm test`, all of them in `npm run test:all`. */
export const everyOther = <Case>(cases: Case[]): Case[] =>
  process.env.TEST_RUNS === 'full' ? cases : cases.filter((_, index) => index % 2 === 0);
