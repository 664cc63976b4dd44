import { expect, test } from '@jest/globals';
import { alertmanagerProgram } from '../../programs/draw/alertmanager.js';
import { readBoards } from '../../programs/draw/boards/board.js';
import { chromiumProgram, openBrowser } from '../../programs/draw/browser.js';
import { inRepository } from '../../programs/draw/paths.js';
import { isInstalled } from '../../programs/draw/prometheus.js';
import { runScene } from '../../programs/draw/run-scene.js';
import { scenes } from '../../programs/draw/scenes/scenes.js';
import { redisProgram } from '../../support/redis.js';

/** All others run by `npm run dashboards -- --draw`; pages.test.ts kills the service. */
const sceneName = 'receivers';
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

(missing.length > 0 ? test.skip : test)(
  'after a while in which all is well, exactly what the table says of failing receivers is told, exactly their half is red, and boards are drawn',
  async () => {
    const browser = await openBrowser();
    try {
      const boards = readBoards(inRepository('grafana/dashboards')).filter((one) => shown.includes(one.name));
      const scene = scenes.find((one) => one.name === sceneName)!;
      const running = { boards, browser, historySeconds, say: () => undefined };
      const { problems, drawings } = await runScene(scene, running);
      expect(problems).toEqual([]);
      expect([...drawings.values()].every((png) => png.length > 10_000)).toBe(true);
      expect(drawings.size).toBe(shown.length);
    } finally {
      await browser.close();
    }
  },
  300_000,
);
