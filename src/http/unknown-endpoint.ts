import { notFound, type ApiError } from '../platform/errors.js';
import { nearestName } from '../platform/nearest.js';

/** Endpoints that there are not, and the one that does what their callers want. */
const guesses: Record<string, string> = { '/v1/shipments/:trackingId': '/v1/shipment-tracking/:trackingId' };

/** A 404 that names the nearest endpoint; `/v1` and the end of a plural are easily forgotten. */
export function unknownEndpoint(given: string, paths: string[]): ApiError {
  const error = notFound('This endpoint');
  if (paths.length === 0) return error; // a worker has no /docs either
  const meant = nearestPath(given, paths) ?? nearestPath(`/v1${given}`, paths);
  error.message += `${meant === null ? '' : ` Did you mean ${meant}?`} See /docs.`;
  return error;
}

function nearestPath(given: string, paths: string[]): string | null {
  const segments = given.split('/');
  const filled = new Map<string, string>();
  for (const path of [...paths, ...Object.keys(guesses)]) {
    const own = path.split('/');
    if (own.length !== segments.length) continue;
    const asGiven = own.map((segment, index) => (segment.startsWith(':') ? segments[index] : segment));
    filled.set(asGiven.join('/'), guesses[path] ?? path);
  }
  const nearest = nearestName(given, filled.keys());
  return nearest && filled.get(nearest)!.replace(/:(\w+)/g, '{$1}');
}
