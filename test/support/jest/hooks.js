/** Modules of `test` are evaluated for each test file (runtime.js); those of `src` and of packages are not. */
const globals = new URL('globals.js', import.meta.url).href;
const tests = new URL('../../', import.meta.url).href;

export async function resolve(specifier, context, next) {
  const query = /\?file=.*/.exec(context.parentURL ?? '')?.[0];
  if (!query) return next(specifier, context);
  if (specifier === '@jest/globals') return { url: globals + query, format: 'module', shortCircuit: true };
  const resolved = await next(specifier, context);
  const { url } = resolved;
  const anew = url.startsWith(tests) || (query.endsWith('watched') && !url.includes('/node_modules/'));
  return anew && url.startsWith('file:') && !url.includes('?') ? { ...resolved, url: url + query } : resolved;
}
