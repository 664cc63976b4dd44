/** Imports the document into Postman's format, fills in what a user fills in, and runs two of its requests. */
import { readFileSync } from 'node:fs';
import newman from 'newman';
import converter from 'openapi-to-postmanv2';

const { PARCELHOOK_URL: url, PARCELHOOK_KEY: key, PARCELHOOK_TOKEN: token } = process.env;
const options = { parametersResolution: 'Example' };

const collection = await new Promise((resolve, reject) =>
  converter.convertV2(
    { type: 'string', data: readFileSync('api.json', 'utf8') },
    options,
    (error, converted) =>
      error || !converted.result
        ? reject(error ?? new Error(converted.reason))
        : resolve(converted.output[0].data),
  ),
);
const requests = (folder) => (folder.item ? folder.item.flatMap(requests) : [folder]);
const chosen = ['Create a webhook', 'Create an order'].map((name) =>
  requests(collection).find((one) => one.name === name),
);
for (const { request } of chosen) request.url.query.find((one) => one.key === 'key').value = key;

const run = await new Promise((resolve, reject) =>
  newman.run(
    {
      collection: {
        ...collection,
        item: chosen,
        variable: [
          { key: 'baseUrl', value: url },
          { key: 'bearerToken', value: token },
        ],
      },
    },
    (error, summary) => (error ? reject(error) : resolve(summary.run)),
  ),
);
const [created, accepted] = run.executions.map(({ response }) => JSON.parse(response.stream.toString()));
if (!created.data || !accepted.data) throw new Error(JSON.stringify([created, accepted]));
console.log(JSON.stringify({ webhookId: created.data.webhookId, trackingId: accepted.data.trackingId }));
