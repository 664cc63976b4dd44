import type { z } from 'zod';
import type { Route } from '../route.js';
import { securityOf } from './intro.js';
import { responsesOf } from './responses.js';
import { exampleOf, type SchemaCollector } from './schemas.js';
import type { JsonSchema, Operation, Parameter } from './types.js';

/** An endpoint as the document describes it. */
export function operationOf(route: Route, routes: Route[], schemas: SchemaCollector): Operation {
  const parameters = [
    ...parametersOf(route.params, 'path', schemas),
    ...parametersOf(route.query, 'query', schemas),
    ...parametersOf(route.headers, 'header', schemas),
  ];
  const requestBody = requestBodyOf(route, schemas);
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    security: securityOf[route.auth],
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: responsesOf(route, routes, schemas),
  };
}

/** One parameter for each field; what the field's schema says of it goes to the parameter. */
export function parametersOf(
  fields: z.ZodObject,
  place: Parameter['in'],
  schemas: SchemaCollector,
): Parameter[] {
  const { properties = {}, required = [] } = schemas.toJson(fields, 'input');
  return Object.entries(properties).map(([name, property]) => {
    const { description = '', examples, ...schema } = property;
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      description,
      schema,
      ...(examples && { example: examples[0] }),
    };
  });
}

function requestBodyOf({ body, bodyExample }: Route, schemas: SchemaCollector): Operation['requestBody'] {
  const schema = schemas.toJson(body, 'body');
  if (takesNothing(schema)) return undefined;
  const example = bodyExample ?? exampleOf(schema, schemas.components);
  return {
    required: !body.safeParse(undefined).success,
    content: { 'application/json': { schema, example } },
  };
}

const takesNothing = ({ $ref, properties = {} }: JsonSchema) =>
  $ref === undefined && Object.keys(properties).length === 0;
