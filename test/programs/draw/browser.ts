import { build } from 'esbuild';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import type { Sheet } from './page/sheet.js';
import { withFewColors } from './png.js';

/** Debian's; null where none is installed. */
export const chromiumProgram: string | null =
  ['chromium', 'chromium-browser', 'google-chrome'].find(
    (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
  ) ?? null;

export interface Browser {
  draw(sheet: Sheet): Promise<Buffer>;
  close(): Promise<void>;
}

const drawnWithinMs = 30_000;
const colors = 64;
const beside = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** A real browser; our page loads nothing from anywhere. */
export async function openBrowser(): Promise<Browser> {
  if (!chromiumProgram) throw new Error('no chromium on PATH: apt-get install chromium');
  const home = mkdtempSync(join(tmpdir(), 'parcelhook-draw-'));
  const html = await pageHtml();
  const context = await chromium.launchPersistentContext(home, {
    executablePath: whereIs(chromiumProgram),
    chromiumSandbox: false,
    timeout: drawnWithinMs,
    viewport: { width: 1200, height: 600 },
    offline: true,
    args: ['--disable-gpu', '--force-color-profile=srgb', '--disable-lcd-text'],
  });
  return {
    draw: async (sheet) => {
      const page = await context.newPage();
      page.setDefaultTimeout(drawnWithinMs);
      try {
        const wrong: string[] = [];
        page.on('pageerror', (error) => wrong.push(error.message));
        await page.setContent(html);
        await page.evaluate(`draw(${JSON.stringify(sheet)})`);
        await page.waitForSelector('body[data-drawn]');
        if (wrong.length > 0) throw new Error(`the page failed: ${wrong.join('; ')}`);
        return withFewColors(await page.screenshot({ fullPage: true }), colors);
      } finally {
        await page.close();
      }
    },
    close: async () => {
      await context.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

export const whereIs = (program: string): string =>
  spawnSync('/bin/sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim();

/** One file: uPlot, our own script and the styles of both are in it. */
async function pageHtml(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [beside('./page/main.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    logLevel: 'silent',
  });
  const uplotCss = readFileSync(createRequire(import.meta.url).resolve('uplot/dist/uPlot.min.css'), 'utf8');
  const script = outputFiles[0]!.text.replaceAll('</script', '<\\/script');
  return `<!doctype html><meta charset="utf-8"><style>${uplotCss}${readFileSync(beside('./page/style.css'), 'utf8')}</style><body><script>${script}</script>`;
}
