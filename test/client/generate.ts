import { readFileSync } from 'node:fs';
import openapiTypes, { astToString } from 'openapi-typescript';
import type { OpenApiDocument } from '../../src/http/openapi/types.js';

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

/**
 * The document without repeated parts and additional properties: the API accepts these, but a misspelt field should not
 * compile.
 */
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
  if (Array.isArray(value)) return value.map(without);
  if (typeof value !== 'object' || value === null) return value;
  const omitted = [
    ...('content' in value && 'description' in value ? ['headers', 'links'] : []),
    ...('schema' in value && !('in' in value) ? ['example'] : []),
    ...(Object.keys(Object(propertiesOf(value))).length > 0 ? ['additionalProperties'] : []),
  ];
  const kept = Object.entries(value).filter(([key]) => !omitted.includes(key));
  return Object.fromEntries(kept.map(([key, child]) => [key, without(child)]));
}

const propertiesOf = (value: object) => ('properties' in value ? value.properties : {});
