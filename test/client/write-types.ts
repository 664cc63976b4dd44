/** `npm run client-types`: writes src/client/api/generated.ts from the document of the real service. */
import { writeFileSync } from 'node:fs';
import type { OpenApiDocument } from '../../src/http/openapi/schemas.js';
import { startDeployment } from '../programs/fuzz/deployment.js';
import { typesFile, typesOf } from './generate.js';

const deployment = await startDeployment();
try {
  const response = await fetch(`${deployment.url}/openapi.json`);
  writeFileSync(typesFile, await typesOf((await response.json()) as OpenApiDocument));
} finally {
  await deployment.stop();
}
