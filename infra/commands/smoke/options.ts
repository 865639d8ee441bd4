import { configuredStack } from '../../build/projectContext.ts';
import { apiAddress, isWebAddress, parseArguments } from '../operator.ts';

export const USAGE = `Usage: npm run smoke -- <ApiUrl> [--credentials <file>] [--receiver <url>] [--alarm] [--stack <stack>]

Sends the example of every endpoint, and tests one webhook, one mail and one alarm. Prints the result of each step. The exit
code is 1 if a step fails. All data is stored under the API key "npm run smoke" of the workspace. The first run creates this
API key, and later runs use it again, because no endpoint deletes API keys. The command deletes everything else.

  --credentials   a file as npm run workspace -- create prints it (default: API_KEY, AUTH_TOKEN, WORKSPACE_ID and
                  WORKSPACE_AUTH_TOKEN, or credentials.json in DATA_DIR)
  --receiver      the https URL that receives the webhooks. It must answer with status 200. Without it the test of the
                  webhook is skipped. For a local run, the command receives the webhooks itself.
  --alarm         sets the alarm ConcurrencyHigh to ALARM with the AWS CLI and your credentials. CloudWatch sends a notice
                  to alarmEmail and alarmTopicArn, and sets the alarm to its real state within some minutes.
  --stack         the CloudFormation stack of the alarm (default: the setting stackName, ${configuredStack()})
  --service-name  the setting serviceName of the deployment (default: svc)
  --help          prints this text`;

export interface SmokeOptions {
  readonly baseUrl: string;
  readonly credentialsFile?: string | undefined;
  readonly receiver?: string | undefined;
  readonly alarmStack?: string | undefined;
  readonly serviceName: string;
}

export function smokeOptions(args: string[]): SmokeOptions {
  const { values, positionals } = parseArguments(USAGE, {
    args,
    allowPositionals: true,
    options: {
      credentials: { type: 'string' },
      receiver: { type: 'string' },
      alarm: { type: 'boolean', default: false },
      stack: { type: 'string', default: configuredStack() },
      'service-name': { type: 'string', default: 'svc' },
    },
  });
  const baseUrl = apiAddress(positionals);
  if (values.receiver !== undefined && !isWebAddress(values.receiver))
    throw new Error('--receiver must be an http(s) address');
  return {
    baseUrl,
    credentialsFile: values.credentials,
    receiver: values.receiver,
    alarmStack: values.alarm ? values.stack : undefined,
    serviceName: values['service-name'],
  };
}
