import { mkdtempSync, readFileSync, existsSync, rmSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Closing } from '../chaos/world/engines.js';
import { until } from '../bench/scenarios/scenario.js';
import { startAlertmanager } from './alertmanager.js';
import { ask, marksOf, type Answered } from './boards/ask.js';
import { css } from './boards/colors.js';
import { sheetOf } from './boards/sheet-of.js';
import { choicesOf, inWords } from './boards/variables.js';
import type { Board } from './boards/board.js';
import type { Browser } from './browser.js';
import { divideRules } from './divide.js';
import { division } from './division.js';
import { redOf, redPanels } from './halves.js';
import { inRepository } from './paths.js';
import { startPrometheus, type Prometheus } from './prometheus.js';
import type { Part, Scene, Struck } from './scenes/scene.js';
import { isComplete, latest, problemsOf, type FirstRow } from './verdict.js';
import { toldAfterSeconds, watch } from './watch.js';
import { startEnvironment } from './world/environment.js';
import { readOnly } from './world/read-only.js';
import { startTraffic } from './world/traffic.js';

export interface Result {
  scene: string;
  /** Seconds after the strike, by `environment alert`. */
  told: Record<string, number>;
  firstRows: Record<string, FirstRow>;
  problems: string[];
  answered: { board: Board; answered: Answered[] }[];
  drawings: Map<string, Buffer>;
  seconds: number;
}

export interface Running {
  boards: Board[];
  browser: Browser;
  say(line: string): void;
  /** How long a healthy past there is before the strike, in seconds: burn rates compare with it. */
  historySeconds?: number;
  /** Told how to end all there is, before anything is begun. */
  onStarted?(stop: () => Promise<void>): void;
}

const ordersPerSecond = 3;
const quietWithinMs = 180_000;
const quietForSeconds = 5;
const usualHistorySeconds = 45;
const rowWithinSeconds = 30;

/** Runs it on engines of its own, from an empty database to the drawings. */
export async function runScene(scene: Scene, running: Running): Promise<Result> {
  const startedAt = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'parcelhook-scene-'));
  chmodSync(folder, 0o755); // PostgreSQL runs as another user where this is root
  const closing: Closing = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })];
  const stop = async () => {
    for (const close of closing.splice(0).reverse())
      await Promise.resolve(close()).catch((error: unknown) => running.say(String(error)));
  };
  running.onStarted?.(stop);
  try {
    const result = await inFolder(scene, running, folder, closing);
    return { ...result, scene: scene.name, seconds: (performance.now() - startedAt) / 1_000 };
  } finally {
    await stop();
  }
}

const readIf = (path: string, otherwise: string) =>
  existsSync(inRepository(path)) ? readFileSync(inRepository(path), 'utf8') : otherwise;
const silent = 'route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n';

async function inFolder(scene: Scene, running: Running, folder: string, closing: Closing) {
  const { say } = running;
  const struck: (Struck & { part: Part })[] = [];
  let discover = () => {};
  for (const [name, part] of Object.entries(scene.environments)) {
    const environment = await startEnvironment(folder, name, scene.settings ?? {}, closing);
    const traffic = startTraffic(environment, ordersPerSecond);
    closing.push(traffic.stop);
    struck.push({ environment, traffic, part, discover: () => discover() });
  }
  const alertmanager = await startAlertmanager(
    folder,
    readIf('grafana/alertmanager/alertmanager.yml', silent),
  );
  closing.push(alertmanager.stop);
  const rules = divideRules(readFileSync(inRepository('grafana/prometheus/rules.yml'), 'utf8'), division);
  const prometheus = await startPrometheus(folder, rules, alertmanager.url);
  closing.push(prometheus.stop);
  const targets = () => struck.flatMap(({ environment }) => environment.targets);
  discover = () => prometheus.targets(targets());
  discover();
  await untilQuiet(prometheus, targets().length, running.historySeconds ?? usualHistorySeconds);
  say(`${scene.name}: all is well; now: ${scene.what}`);

  const struckAt = Date.now() / 1_000;
  for (const one of struck) await one.part.strike?.(one);
  const last = latest(scene.environments);
  let completeAt: number | null = null;
  const told = await watch(alertmanager.told, (soFar, seconds) => {
    if (isComplete(scene.environments, soFar)) completeAt ??= seconds;
    if (completeAt === null) return seconds > last + toldAfterSeconds;
    return seconds >= Math.max(scene.watched, completeAt + toldAfterSeconds);
  });
  for (const [key, at] of told) say(`${scene.name}: ${key} after ${at.toFixed(0)} s`);

  const firstRows: Record<string, FirstRow> = {};
  const answered: Result['answered'] = [];
  const drawings: Result['drawings'] = new Map();
  for (const { environment, part } of struck) {
    const look = (board: Board) =>
      askOf(board, environment.name, prometheus, environment.postgres.superuserUrl);
    const overview = running.boards.find(({ name }) => name === 'overview')!;
    const row = await firstRowOf(async () => (await look(overview)).answered, part);
    firstRows[environment.name] = row;
    say(
      `${scene.name}: ${environment.name}: red is ${row.red}${row.panels.length > 0 ? `: ${row.panels.join(', ')}` : ''}`,
    );
    for (const board of running.boards) {
      const { answered: answers, subtitle, marks } = await look(board);
      answered.push({ board, answered: answers });
      if (!scene.drawn.includes(board.name)) continue;
      const file = [scene.name, struck.length > 1 && environment.name, board.name].filter(Boolean).join('-');
      const sheet = sheetOf(board, answers, {
        subtitle,
        caption: captionOf(scene),
        marks: [...marks, ...(part.strike ? [{ at: struckAt, color: css('text') }] : [])],
      });
      drawings.set(`${file}.png`, await running.browser.draw(sheet));
    }
  }
  const isSilent = struck.some(({ part }) => part.isSilent);
  const failed = answered.flatMap(({ board, answered: answers }) =>
    answers.flatMap(({ panel, errors }) =>
      errors
        .filter(({ target }) => !(isSilent && target.rawSql))
        .map(({ message }) => `${board.name} › ${panel.title}: ${message}`),
    ),
  );
  const problems = [
    ...problemsOf(scene.environments, told, firstRows),
    ...(await impossibleRatios(prometheus)),
    ...failed,
  ];
  return { told: Object.fromEntries(told), firstRows, problems, answered, drawings };
}

const captionOf = ({ title, what }: Scene) =>
  `${title}. ${what} Drawn from the dashboard's JSON by \`npm run dashboards -- --draw\`, not by Grafana; durations of the rules divided by ${division.factor}.`;

/** All is scraped, and for a while nothing but the watchdog fires or is about to. */
async function untilQuiet(prometheus: Prometheus, targets: number, historySeconds: number): Promise<void> {
  let quietSince = Infinity;
  await until('all targets are up and no alert fires or is about to', quietWithinMs, async () => {
    const up = await prometheus.instant('sum(up)');
    const alerts = await prometheus.active();
    const isQuiet = up[0]?.values[0]?.[1] === targets && alerts.every(({ severity }) => severity === 'none');
    const now = Date.now() / 1_000;
    quietSince = isQuiet ? Math.min(quietSince, now) : Infinity;
    return now - quietSince >= quietForSeconds && now - prometheus.startedAt >= historySeconds;
  });
}

const rounding = 1e-9;

/** A selector that matches too many buckets counts requests twice: a share below 0. */
async function impossibleRatios(prometheus: Prometheus): Promise<string[]> {
  const recorded = await prometheus.range(
    '{__name__=~"parcelhook:.+:ratio_.+"}',
    prometheus.startedAt,
    Date.now() / 1_000,
    1,
  );
  return recorded
    .filter(({ values }) => values.some(([, value]) => value < -rounding || value > 1 + rounding))
    .map(({ labels }) => `${labels.environment}: ${labels.__name__} is not between 0 and 1`);
}

async function askOf(board: Board, environment: string, prometheus: Prometheus, postgresUrl: string) {
  const choices = await choicesOf(board, prometheus.labelValues, { environment });
  const to = Math.floor(Date.now() / 1_000);
  const span = { from: Math.ceil(prometheus.startedAt), to, step: 1 };
  const sources = { prometheus, sql: (text: string) => readOnly(postgresUrl, text) };
  const answered = await ask(board, choices, sources, span, division);
  const marks = await marksOf(board, choices, sources, span, division);
  return {
    answered,
    subtitle: inWords(choices),
    marks: marks.map(({ at, color }) => ({ at, color: css(color) })),
  };
}

/** The row as it is to be, or as it is after a while. */
async function firstRowOf(look: () => Promise<Answered[]>, { red }: Part): Promise<FirstRow> {
  const startedAt = performance.now();
  for (;;) {
    const panels = redPanels(await look());
    const row = { red: redOf(panels), panels: [...panels.ours, ...panels.theirs] };
    if (row.red === red || performance.now() - startedAt > rowWithinSeconds * 1_000) return row;
    await sleep(1_000);
  }
}
