import { readFileSync } from 'node:fs';
import openapiTypes, { astToString } from 'openapi-typescript';
import type { OpenApiDocument, Parameter } from '../../src/http/openapi/schemas.js';

export const typesFile = new URL('../../src/client/api/generated.ts', import.meta.url);

export const readTypes = (): string => readFileSync(typesFile, 'utf8');

export async function typesOf(document: OpenApiDocument): Promise<string> {
  const nodes = await openapiTypes(JSON.stringify(trimmed(document)));
  return [
    "/** Made of the API's document by `npm run client-types`. */\n",
    `export const version = '${document.info.version}';\n\n`,
    astToString(nodes),
  ].join('');
}

/** The document without repeated parts, and without the key, which the client itself sends. */
function trimmed(document: OpenApiDocument): object {
  const paths = Object.entries(document.paths).filter(([path]) => /^\/(operator\/)?v1\//.test(path));
  const { schemas, responses, securitySchemes } = document.components;
  return without({
    ...document,
    paths: Object.fromEntries(paths),
    webhooks: {},
    components: { schemas, responses, securitySchemes },
  }) as object;
}

function without(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((one) => !isKey(one)).map(without);
  if (typeof value !== 'object' || value === null) return value;
  const omitted = [
    ...('content' in value && 'description' in value ? ['headers', 'links'] : []),
    ...('schema' in value && !('in' in value) ? ['example'] : []),
  ];
  const kept = Object.entries(value).filter(([key]) => !omitted.includes(key));
  return Object.fromEntries(kept.map(([key, child]) => [key, without(child)]));
}

const isKey = (value: unknown) => {
  const { in: place, name } = Object(value) as Partial<Parameter>;
  return place === 'query' && name === 'key';
};
