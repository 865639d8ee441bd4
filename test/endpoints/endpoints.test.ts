import { globSync } from 'node:fs';
import { describeEndpoints, type EndpointCases } from '../support/describeEndpoint.ts';

const files = globSync('v*/**/*.ts', { cwd: import.meta.dirname }).sort();
const endpoints = new Map<string, EndpointCases>();
for (const file of files) {
  const { cases } = (await import(`./${file}`)) as { cases: EndpointCases };
  endpoints.set(`/${file.slice(0, -'.ts'.length)}`, cases);
}

describeEndpoints(endpoints);
