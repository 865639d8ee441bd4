import { apiAddress, parseArguments } from '../operator.ts';

export const USAGE = `Usage: npm run load -- <ApiUrl> [--rps <n>] [--minutes <n>] [--credentials <file>] [--service-name <name>]

Sends calls at a constant rate, also while earlier calls wait for an answer. Prints p50, p99 and errors by endpoint. Creates
an organization for the run and deletes it at the end, also after Ctrl-C. Does not repeat failed calls. The first calls of each
endpoint include cold starts. A rate above the limits of the API key (npm run workspace -- limits) gives RESOURCE_EXHAUSTED.

  --rps           calls per second, up to 1,000 (default: 20)
  --minutes       the duration, up to 60 (default: 1)
  --credentials   a file as npm run workspace -- create prints it (default: API_KEY, AUTH_TOKEN, WORKSPACE_ID and
                  WORKSPACE_AUTH_TOKEN, or credentials.json in DATA_DIR)
  --service-name  the setting serviceName of the deployment (default: svc)
  --help          prints this text`;

const MAX_CALLS_PER_SECOND = 1_000;
const MAX_MINUTES = 60;

export interface LoadOptions {
  readonly baseUrl: string;
  readonly credentialsFile?: string | undefined;
  readonly perSecond: number;
  readonly minutes: number;
  readonly serviceName: string;
}

export function loadOptions(args: string[]): LoadOptions {
  const { values, positionals } = parseArguments(USAGE, {
    args,
    allowPositionals: true,
    options: {
      rps: { type: 'string', default: '20' },
      minutes: { type: 'string', default: '1' },
      credentials: { type: 'string' },
      'service-name': { type: 'string', default: 'svc' },
    },
  });
  return {
    baseUrl: apiAddress(positionals),
    credentialsFile: values.credentials,
    perSecond: boundedNumber('--rps', values.rps, MAX_CALLS_PER_SECOND),
    minutes: boundedNumber('--minutes', values.minutes, MAX_MINUTES),
    serviceName: values['service-name'],
  };
}

function boundedNumber(option: string, text: string, most: number): number {
  const value = Number(text);
  if (!(value > 0 && value <= most)) throw new Error(`${option} must be a number above 0, up to ${most}`);
  return value;
}
