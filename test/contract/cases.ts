import { registeredEndpoints } from '../../infra/build/registry.ts';

export const endpoints = registeredEndpoints();

/**
 * The endpoints by path, for `describe.each`. A twin is included only if it differs from the other version's endpoint.
 */
export const cases = endpoints
  .filter(({ twinOf, differs }) => twinOf === undefined || differs !== undefined)
  .map((endpoint) => [endpoint.path, endpoint] as const);
