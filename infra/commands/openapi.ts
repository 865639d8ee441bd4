/**
 * `npm run openapi`: prints the OpenAPI document with the settings of cdk.json. The server URL in the document is the
 * environment variable `PUBLIC_URL`. Its default is the URL of `npm start`.
 */
import { projectContext } from '../build/projectContext.ts';
import { referenceDocument } from '../build/reference.ts';
import { readSettings } from '../stacks/settings.ts';
import { runCommand } from './operator.ts';

await runCommand(async () => {
  const context = projectContext();
  const { serviceName } = readSettings((name) => context[name]);
  const { PUBLIC_URL: url = 'http://127.0.0.1:3000' } = process.env;
  return JSON.stringify(await referenceDocument({ url, serviceName }), null, 2);
});
