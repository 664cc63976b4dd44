import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { alertmanagerProgram } from '../../programs/draw/alertmanager.js';
import { readBoards } from '../../programs/draw/boards/board.js';
import { chromiumProgram, openBrowser, type Browser } from '../../programs/draw/browser.js';
import { inRepository } from '../../programs/draw/paths.js';
import { isInstalled } from '../../programs/draw/prometheus.js';
import { runScene, type Result } from '../../programs/draw/run-scene.js';
import { scenes } from '../../programs/draw/scenes/scenes.js';
import { redisProgram } from '../../support/redis.js';

/** A guilty receiver and a guilty service, each after a while in which all is well. */
const names = ['receivers', 'last-worker-killed'];
/** All others are asked by the program. */
const shown = ['overview', 'receivers'];
const historySeconds = 20;

const missing = Object.entries({
  chromium: chromiumProgram,
  prometheus: isInstalled,
  'prometheus-alertmanager': alertmanagerProgram,
  'redis-server': redisProgram,
}).flatMap(([name, found]) => (found ? [] : [name]));
if (missing.length > 0)
  console.warn(`\n  NO ${missing.join(', ')} ON PATH: the scenes of the dashboards are LEFT OUT.\n`);

// All others: npm run dashboards -- --draw
(missing.length > 0 ? describe.skip : describe)('in the scene', () => {
  let browser: Browser;
  let running: Record<string, Promise<Result>>;

  // They run beside each other: they wait more than they compute.
  beforeAll(async () => {
    browser = await openBrowser();
    const boards = readBoards(inRepository('grafana/dashboards')).filter(({ name }) => shown.includes(name));
    running = Object.fromEntries(
      names.map((name) => {
        const scene = scenes.find((one) => one.name === name)!;
        const result = runScene(scene, { boards, browser, historySeconds, say: () => undefined });
        result.catch(() => undefined); // its test tells
        return [name, result];
      }),
    );
  }, 60_000);
  afterAll(async () => {
    await Promise.allSettled(Object.values(running ?? {}));
    await browser?.close();
  }, 300_000);

  test.each(names)(
    '%s exactly what the table says is told, exactly that half is red, and boards are drawn',
    async (name) => {
      const { problems, drawings } = await running[name]!;
      expect(problems).toEqual([]);
      expect([...drawings.values()].every((png) => png.length > 10_000)).toBe(true);
      expect(drawings.size).toBeGreaterThan(0);
    },
    300_000,
  );
});
