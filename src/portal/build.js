/**
 * Builds the portal: one script and one style sheet with their digests in the names, each beside its compressed forms,
 * and the page that loads them.
 */
import { build as bundle } from 'esbuild';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const source = path.relative('.', import.meta.dirname);

/** Writes `<folder>/index.html` and `<folder>/assets/`. */
export async function buildPortal(folder) {
  const { metafile } = await bundle({
    entryPoints: {
      portal: `${source}/main.tsx`,
      docs: `${source}/docs.ts`,
      style: `${source}/style.css`,
      icon: `${source}/icon.svg`,
    },
    loader: { '.svg': 'copy' },
    outdir: path.join(folder, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    splitting: true, // what `lazy` loads later
    bundle: true,
    minify: true,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    banner: { css: await readPalette() },
    logLevel: 'warning',
  });
  const files = Object.keys(metafile.outputs);
  for (const file of files) {
    const content = readFileSync(file);
    writeFileSync(`${file}.br`, brotliCompressSync(content));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  }
  const script = files.find((file) => metafile.outputs[file].entryPoint?.endsWith('main.tsx'));
  const parts = metafile.outputs[script].imports.filter(({ kind }) => kind === 'import-statement');
  const addressOf = (file) => `/assets/${path.basename(file)}`;
  const withEnding = (ending) => addressOf(files.find((file) => file.endsWith(ending)));
  const page = readFileSync(`${source}/index.html`, 'utf8')
    .replace('{{icon}}', withEnding('.svg'))
    .replace('{{style}}', withEnding('.css'))
    .replace(
      '{{parts}}',
      parts.map((part) => `<link rel="modulepreload" href="${addressOf(part.path)}" />`).join(''),
    )
    .replace('{{script}}', addressOf(script));
  writeFileSync(path.join(folder, 'index.html'), page);
}

/** The colours that `/docs` has too. They are TypeScript, which not every Node that builds can import. */
async function readPalette() {
  const { outputFiles } = await bundle({
    entryPoints: [`${source}/../http/docs/style.ts`],
    format: 'esm',
    write: false,
  });
  const { palette } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  return palette.replace(/\s+/g, ' ').trim();
}
