import { passwordPaths } from './accounts/passwords/password-docs.js';
import type { Config } from './config/config.js';
import { notificationDocs, notificationsOptions } from './deliveries/log/notification-docs.js';
import { createNotificationsDocument } from './http/asyncapi/document.js';
import type { AsyncApiDocument } from './http/asyncapi/types.js';
import { createDocument } from './http/openapi/document.js';
import { documentPaths, healthPaths, metricsPaths } from './http/openapi/pages.js';
import type { OpenApiDocument } from './http/openapi/types.js';
import type { Route } from './http/route.js';

/** The OpenAPI document of a process that serves the API: its routes, its pages and what receivers get. */
export const apiDocument = (
  config: Pick<Config, 'METRICS_PORT' | 'PUBLIC_URL'>,
  routes: Route[],
): OpenApiDocument =>
  createDocument({
    routes,
    pages: (schemas) => ({
      ...passwordPaths(schemas),
      ...healthPaths(schemas),
      ...(config.METRICS_PORT === undefined && metricsPaths),
      ...documentPaths,
    }),
    webhooks: notificationDocs,
    serverUrl: config.PUBLIC_URL ?? '/',
  });

/** The AsyncAPI document of what the service sends to webhooks. */
export const notificationsDocument = (): AsyncApiDocument =>
  createNotificationsDocument(notificationsOptions);
