/** `npm run openapi`: prints the OpenAPI document with the settings of cdk.json. */
import { projectContext } from '../build/projectContext.ts';
import { referenceDocument } from '../build/reference.ts';
import { readSettings } from '../settings/settings.ts';
import { parseArguments, runCommand } from './operator.ts';

const USAGE = `Usage: npm run -s openapi

Prints the OpenAPI document with the settings of cdk.json. The environment variable PUBLIC_URL is the address of the
service in the document (default: that of npm start).`;

await runCommand(USAGE, async (args) => {
  parseArguments(USAGE, { args });
  const context = projectContext();
  const { serviceName } = readSettings((name) => context[name]);
  const { PUBLIC_URL: url = 'http://127.0.0.1:3000' } = process.env;
  return JSON.stringify(await referenceDocument({ url, serviceName }), null, 2);
});
