/** Builds the client's package: JavaScript without dependencies, for `import` and `require`, and its types. */
import { build as bundle } from 'esbuild';
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const source = path.relative('.', import.meta.dirname);
const options = { bundle: true, platform: 'node', target: 'node20', logLevel: 'warning' };

/** `tsc` runs the compiler. Without it, the package has no types. */
export async function buildClient(folder, { version, tsc }) {
  const within = (file) => path.join(folder, file);
  await Promise.all([
    bundle({ ...options, format: 'cjs', entryPoints: [`${source}/index.ts`], outfile: within('index.cjs') }),
    // Fails for a module of Node.
    bundle({
      ...{ bundle: true, platform: 'browser', target: 'es2022', logLevel: 'warning', format: 'esm' },
      entryPoints: [`${source}/web.ts`],
      outfile: within('web.js'),
    }),
    bundle({
      ...options,
      format: 'esm',
      entryPoints: [`${source}/main.ts`],
      outfile: within('parcelhook.js'),
    }),
  ]);
  // `import` re-exports the CommonJS file, so that both share one class of errors.
  const names = Object.keys(createRequire(import.meta.url)(path.resolve(within('index.cjs'))));
  writeFileSync(within('index.js'), `export { ${names.join(', ')} } from './index.cjs';\n`);
  const manifest = JSON.parse(readFileSync(`${source}/package.json`, 'utf8'));
  writeFileSync(within('package.json'), `${JSON.stringify({ ...manifest, version }, null, 2)}\n`);
  copyFileSync(`${source}/README.md`, within('README.md'));
  copyFileSync('LICENSE', within('LICENSE'));
  if (!tsc) return;
  tsc('-p', source, '--outDir', path.resolve(within('types')));
  addTypesForRequire(within('types'));
}

/** Copies the declarations for CommonJS. */
function addTypesForRequire(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    const text = readFileSync(file, 'utf8').replace(/(['"])(\.{1,2}\/[^'"]+)\.js\1/g, '$1$2.cjs$1');
    writeFileSync(file.replace(/\.d\.ts$/, '.d.cts'), text);
  }
}
