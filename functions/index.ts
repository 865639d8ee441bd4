/**
 * The registry: one line per endpoint. The stack, the OpenAPI document and the tests read it; a deployed function never
 * does (it would carry every other function in its bundle).
 */
export { endpoint as organizationsAdd } from './v2/organizations/add.ts';
export { endpoint as organizationsGet } from './v2/organizations/get.ts';
