import type { z } from 'zod';
import type { Route } from '../route.js';
import type { LinkObject } from './types.js';

/** What a path's parameters are called: `webhookId`. */
const idsIn = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);

/** Those of a query that are an id, as filters are. */
const filtersOf = ({ query }: Route): string[] => Object.keys(query.shape).filter((name) => /Id$/.test(name));

/**
 * From an endpoint that makes or changes something to those that take its id, in the path or as a filter: by what the
 * answer says, or by what the request's own path names.
 */
export function linksOf(route: Route, data: z.ZodObject, routes: Route[]): Record<string, LinkObject> {
  if (route.method !== 'post') return {};
  const answered = Object.keys(data.shape);
  const own = idsIn(route.path);
  const sourceOf = (id: string): string | undefined =>
    answered.includes(id)
      ? `$response.body#/data/${id}`
      : own.includes(id)
        ? `$request.path.${id}`
        : undefined;
  const takenBy = (target: Route): string[] => [
    ...idsIn(target.path),
    ...filtersOf(target).filter((id) => answered.includes(id)),
  ];
  const targets = routes.filter((target) => {
    const ids = takenBy(target);
    return (
      target.operationId !== route.operationId &&
      ids.some((id) => answered.includes(id)) &&
      ids.every((id) => sourceOf(id) !== undefined)
    );
  });
  return Object.fromEntries(
    targets.map((target) => [
      target.operationId,
      {
        operationId: target.operationId,
        parameters: Object.fromEntries(takenBy(target).map((id) => [id, sourceOf(id)!])),
      },
    ]),
  );
}
