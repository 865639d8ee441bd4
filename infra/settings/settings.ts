import * as z from 'zod';
import { mailableAddress, MailAddress } from '../../lib/shared/mailAddress.ts';
import { BURST_OF_EVERY_REGION, gatewayProblems } from './gatewayQuotas.ts';

/** Also the default of the setting `stackName`. */
export const STACK = 'CollaborationBackend';

/** CloudWatch Logs accepts only these periods. */
const retentionDays = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
] as const;

/** `cdk synth -c name=1` passes the value as text. */
function numeric<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value), schema);
}

/** An empty text counts as not set, so `-c name=` clears the setting for one run. */
const orNothing = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' || value === null ? undefined : value), schema.optional());

/** `-c name={...}` passes the value as text. */
function jsonObject<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => {
    if (typeof value !== 'string') return value;
    try {
      return JSON.parse(value) as unknown;
    } catch {
      return value;
    }
  }, schema);
}

/** Every resource has all tags, and a template may have at most 1 MB. */
const MAX_TAGS = 20;
const MAX_TAG_CHARACTERS = 1_000;

/** The rules hold for the tags of every service of the stack. `restored` is the tag of the setting `restoredOn`. */
function tagProblem(tags: Readonly<Record<string, string>>): string | undefined {
  const entries = Object.entries(tags);
  if (entries.length > MAX_TAGS) return `must have at most ${MAX_TAGS} tags`;
  if (entries.flat().join('').length > MAX_TAG_CHARACTERS)
    return `must have at most ${MAX_TAG_CHARACTERS} characters in all`;
  const isText = (text: string, least: number, most: number) =>
    text.length >= least && text.length <= most && /^[\p{L}\p{N} _.:/=+@-]*$/u.test(text);
  for (const [key, value] of entries) {
    if (!isText(key, 1, 128) || /^(aws:|restored$)/i.test(key))
      return `must have keys of 1 to 128 letters, digits, spaces and _.:/=+-@ that are not "restored" and do not start with aws: (key ${JSON.stringify(key)})`;
    if (!isText(value, 0, 256))
      return `must have values of at most 256 letters, digits, spaces and _.:/=+-@ (key ${JSON.stringify(key)})`;
  }
  return undefined;
}

function numberInRange(least: number, most: number) {
  // With `abort`, zod does not also report a fraction as too small or too large.
  return numeric(
    z
      .int({ error: 'must be a whole number', abort: true })
      .min(least, `must be at least ${least}`)
      .max(most, `must be at most ${most}`),
  );
}

function wholeNumber(byDefault: number, least: number, most: number) {
  return numberInRange(least, most).default(byDefault);
}

const callsPerWindow = (byDefault: number) => wholeNumber(byDefault, 1, 100_000);

/** The characters `*`, `?` and `$` would widen the ARN of the identity. */
function isMailIdentity(text: string): boolean {
  return !/[*?$]/.test(text) && mailableAddress(text.includes('@') ? text : `a@${text}`) !== undefined;
}

/** A model costs money and must be enabled in the account, so the default is none. */
function modelId() {
  return orNothing(
    z.string().regex(/^[a-z0-9][a-z0-9.:-]{2,127}$/, 'must be the id of a model or an inference profile'),
  );
}

/** Failed deliveries can be recovered for 14 days. */
const MAX_SCHEDULE_SECONDS = 14 * 24 * 60 * 60;

/** The seconds before each attempt, including the first. */
function retrySchedule(byDefault: string) {
  return z
    .string('must be whole seconds separated by commas')
    .regex(/^\d{1,7}(,\d{1,7}){0,19}$/, {
      error: 'must be 1 to 20 whole numbers of seconds separated by commas',
      abort: true,
    })
    .refine(
      (text) => text.split(',').reduce((sum, pause) => sum + Number(pause), 0) <= MAX_SCHEDULE_SECONDS,
      'must be at most 14 days in all',
    )
    .default(byDefault);
}

const schema = z.object({
  stackName: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,39}$/, 'must be 1 to 40 letters, digits and hyphens, and start with a letter')
    .default(STACK)
    .describe(
      'The name of the CloudFormation stack, from which the names of its resources derive. Two deployments in one account and region need different names. Another name creates another deployment.',
    ),
  serviceName: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,29}$/, 'must be 1 to 30 lower-case letters, digits and hyphens, and start with a letter')
    .default('svc')
    .describe('The name of the service in its request headers (`x-<serviceName>-api-key`) and in its metrics.'),
  domainName: orNothing(
    z
      .string()
      .regex(
        /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/,
        'must be a host name in lower case, such as api.example.com',
      ),
  ).describe(
    'Your own host name for the API, in addition to the one of AWS. Links in mails use it. Needs `certificateArn`, and a DNS record that you create from the outputs of the stack.',
  ),
  certificateArn: orNothing(
    z
      .string()
      .regex(
        /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
        'must be the ARN of a certificate of AWS Certificate Manager',
      ),
  ).describe('The certificate for `domainName`. It must be issued, in the region of the stack.'),
  disableExecuteApiEndpoint: z
    .enum(['off', 'on'], 'must be "off" or "on"')
    .default('off')
    .describe(
      '`on`: the host name of AWS does not answer, so callers reach the API only through `domainName`, which it needs. Set it after the DNS record of the domain works.',
    ),
  logRetentionDays: numeric(z.literal(retentionDays, `must be one of ${retentionDays.join(', ')}`))
    .default(30)
    .describe('Days after which logs are deleted.'),
  tags: orNothing(
    jsonObject(
      z
        .record(
          z.string(),
          z.string('must be an object of texts'),
          'must be an object of texts, such as {"team": "web"}',
        )
        .superRefine((tags, context) => {
          const message = tagProblem(tags);
          if (message !== undefined) context.addIssue({ code: 'custom', message });
        }),
    ),
  ).describe(
    `Tags of every resource that can have some: an object of texts, such as \`{"costCenter": "4711"}\`. At most ${MAX_TAGS} tags with ${MAX_TAG_CHARACTERS} characters in all.`,
  ),
  permissionsBoundary: orNothing(
    z
      .string()
      .regex(
        /^(arn:aws[a-z-]*:iam::(\d{12}|aws):policy\/)?([\w+=,.@-]{1,128}\/){0,8}[\w+=,.@-]{1,128}$/,
        'must be the name or the ARN of an IAM policy, such as TeamBoundary or arn:aws:iam::123456789012:policy/TeamBoundary',
      ),
  ).describe(
    'The name of a managed policy of the account, or the ARN of a policy, that limits every role of the stack. See [permissions boundary](GOVERNED.md#permissions-boundary).',
  ),
  kmsKeyArn: orNothing(
    z
      .string()
      .regex(
        /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/(mrk-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/,
        'must be the ARN of a key of AWS KMS, such as arn:aws:kms:eu-west-1:123456789012:key/0a1b2c3d-0000-4000-8000-000000000000',
      ),
  ).describe(
    'The ARN of a symmetric key of AWS KMS in the account and region of the stack. It encrypts the table, the secrets, the queues, the log groups and the topic of `alarmEmail`. Its policy must allow that: see [your own key](GOVERNED.md#your-own-key). Without it, keys of AWS encrypt them.',
  ),
  alarmEmail: orNothing(MailAddress).describe(
    'The address that receives the alarms, and a notice when each is OK again. Without it, alarms send no mail.',
  ),
  alarmTopicArn: orNothing(
    z
      .string()
      .regex(
        /^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/,
        'must be the ARN of a standard topic of Amazon SNS, such as arn:aws:sns:eu-west-1:123456789012:alarms',
      ),
  ).describe(
    'The ARN of an existing SNS topic in the region of the stack that gets the same notices, in addition to or instead of `alarmEmail`. See [Notices of alarms](#notices-of-alarms).',
  ),
  runbookBaseUrl: orNothing(
    z.url({ protocol: /^https?$/, error: 'must be an http(s) address' }).max(300, 'must have at most 300 characters'),
  ).describe(
    'The web address of this repository, such as `https://git.example.com/team/backend/blob/main`. Alarms link to their section of `infra/RUNBOOK.md` there. Without it, alarms name only the path.',
  ),
  unverifiedGraceDays: wholeNumber(14, 1, 3_650).describe(
    'Days for which API keys work while the e-mail address of the owner is not verified.',
  ),
  workspaceCreation: z
    .enum(['closed', 'open'], 'must be "closed" or "open"')
    .default('closed')
    .describe(
      '`open`: anyone can create a workspace over HTTP. `closed`: only the operator can, with AWS credentials.',
    ),
  workspaceCreationPerMinute: callsPerWindow(60).describe(
    'Workspaces that one source address may create per minute, if `workspaceCreation` is `open`.',
  ),
  mailFrom: orNothing(MailAddress).describe(
    'The sender address of mails. Its identity must be verified in Amazon SES. Without this setting no mail is sent, and `/v2/workspace/email/send-login-link` answers FAILED_PRECONDITION.',
  ),
  mailIdentity: orNothing(
    z.string().refine(isMailIdentity, 'must be a domain or an e-mail address, without *, ? and $'),
  ).describe(
    'The SES identity of `mailFrom`, if it is not the domain of that address: the address itself, or a parent domain.',
  ),
  emailStatusPerMinutePerAddress: callsPerWindow(60).describe(
    'Requests per minute from one source address for the status of e-mail addresses, and the same number for login links.',
  ),
  emailStatusPerMinutePerEmail: callsPerWindow(10).describe(
    'Requests per minute for the status of one e-mail address.',
  ),
  loginLinksPerHourPerEmail: callsPerWindow(10).describe('Login links per hour for one e-mail address.'),
  embeddingModel: z
    .enum(['amazon.titan-embed-text-v2:0', 'lexical'], 'must be "amazon.titan-embed-text-v2:0" or "lexical"')
    .default('amazon.titan-embed-text-v2:0')
    .describe(
      'Computes the vectors of judgments and queries. A model of Amazon Bedrock compares meanings. `lexical` compares words and calls no model.',
    ),
  claudeModelId: modelId().describe(
    'The Bedrock model or inference profile that reads files for `/v2/agents/extract` with `provider: "claude"`, or without a provider.',
  ),
  novaModelId: modelId().describe(
    'The Bedrock model or inference profile that reads files with `provider: "nova"`, or without a provider if `claudeModelId` is not set.',
  ),
  webhookRetrySchedule: retrySchedule('0,5,300,1800,7200,18000,36000,36000').describe(
    'Seconds before each attempt to deliver a webhook, counted from the end of the attempt before. Up to 20 attempts within 14 days.',
  ),
  mailRetrySchedule: retrySchedule('0,60,300,1800,7200,21600').describe(
    'Seconds before each attempt to send a mail, counted from the end of the attempt before.',
  ),
  mailsPerRecipientPerHour: wholeNumber(20, 0, 100_000).describe(
    'Mails about events per hour to one address under an API key. What is above is collected and sent as one mail when the hour ends. 0 switches the limit off.',
  ),
  mailsPerWriterPerHour: wholeNumber(200, 0, 100_000).describe(
    'Mails per hour that one user of an API key causes, counted by recipients. What is above is collected and sent as one mail for each recipient when the hour ends. 0 switches the limit off.',
  ),
  dueMarginSeconds: wholeNumber(300, 60, 3_600).describe(
    'Seconds after which the queue message of a due delivery or mail counts as lost and is sent again.',
  ),
  readsPerSecondPerKey: callsPerWindow(500).describe(
    'Reads per second for each API key. `npm run workspace -- limits` sets another limit for one key.',
  ),
  writesPerSecondPerKey: callsPerWindow(200).describe('Writes per second for each API key.'),
  expensiveCallsPerSecondPerKey: callsPerWindow(50).describe(
    'Expensive calls per second for each API key: `crdt/*`, `agents/extract`, `memory/search` and `users/data/*`.',
  ),
  callBurstSeconds: wholeNumber(10, 1, 300).describe(
    'The burst size of the limits per API key, in seconds: 10 allows a burst of ten times the limit per second.',
  ),
  requestsPerSecond: wholeNumber(2_000, 1, 1_000_000).describe(
    'Requests per second of all callers together to one route. API Gateway applies the limit to each route, and only the quota of the account to all routes together. Bursts may have twice as many, up to `requestBurst`. The default quota of an AWS account is 10,000, but 2,500 in 13 regions.',
  ),
  requestBurst: wholeNumber(BURST_OF_EVERY_REGION, 1, 1_000_000).describe(
    'The largest burst of requests. The default quota of an AWS account is 5,000, but 1,250 in 13 regions. AWS sets it by the quota for requests per second.',
  ),
  accountRequestsPerSecond: orNothing(numberInRange(1, 1_000_000)).describe(
    'The quota "Throttle rate" of API Gateway in your account, if AWS has raised it. Without this setting, `npm run synth` accepts the default quota of the region.',
  ),
  accountRequestBurst: orNothing(numberInRange(1, 1_000_000)).describe(
    'The quota "Throttle burst rate" of API Gateway in your account, if it is higher than the default of the region.',
  ),
  publicRequestsPerSecond: wholeNumber(50, 1, 10_000).describe(
    'Requests per second of all callers together to all unknown paths. Routes without credentials have `requestsPerSecond`, because their functions limit each source address.',
  ),
  live: z
    .enum(['off', 'on'], 'must be "off" or "on"')
    .default('off')
    .describe(
      '`on`: browsers of users can connect and get changes of documents at once, through AWS AppSync Events. `off`: no part of this is deployed.',
    ),
  heartbeat: z
    .enum(['off', 'on'], 'must be "off" or "on"')
    .default('off')
    .describe(
      '`on`: a function writes and reads through the public URL every minute, and an alarm becomes active if that fails. It needs credentials: see [Heartbeat](#heartbeat). `off`: no part of this is deployed.',
    ),
  accountConcurrency: wholeNumber(1_000, 10, 1_000_000).describe(
    'The limit of concurrent Lambda executions of the AWS account: 10 in new accounts. An alarm becomes active at 80 % of it. `npm run check:deploy` compares it with the account.',
  ),
  reservedConcurrency: orNothing(
    jsonObject(
      z.record(
        z.string(),
        z
          .int({ error: 'must have whole numbers', abort: true })
          .min(1, 'must have numbers of at least 1')
          .max(1_000_000, 'must have numbers of at most 1000000'),
        'must be an object of numbers, such as {"runJobs": 5}',
      ),
    ),
  ).describe(
    'Concurrent executions that Lambda reserves for workers, and their limit: an object such as `{"deliverWebhook": 50}`. See [reserved concurrency](GOVERNED.md#reserved-concurrency).',
  ),
  streamBatchesPerShard: wholeNumber(2, 1, 10).describe(
    "Batches of one shard of the table's stream that are processed at the same time. The largest concurrency of the worker is this number times the number of shards. A new table has about 4 shards, a larger table more.",
  ),
  warmFamilies: z
    .string('must be names of families separated by commas, or "all"')
    .regex(
      /^(all|v\d\/[a-z]+(,v\d\/[a-z]+)*)?$/,
      'must be names of families such as v2/auth, separated by commas, or "all"',
    )
    .default('')
    .describe(
      'Families whose functions get a ping every five minutes, such as `v2/auth,v2/commentannotations`, or `all`. Each function then has one instance that is already started: see [Starts of instances](#starts-of-instances).',
    ),
  reconcileAfterSeconds: wholeNumber(180, 60, 3_600).describe(
    'Seconds after which an event without deliveries is fanned out again.',
  ),
  restoredOn: orNothing(z.iso.date('must be a date, such as 2026-11-28')).describe(
    'The day on which the table was [restored](RESTORE.md). It becomes a tag of the table, so that CloudFormation reads the properties of the restored table.',
  ),
});

/** From the `context` of cdk.json or from `-c name=value`. */
export type Settings = z.output<typeof schema>;

/**
 * Returns the dimension `service` of all metrics. Deployments in one account and region write metrics to the same
 * namespace, so a stack whose name is not the default adds its name.
 */
export function metricsService({ stackName, serviceName }: Pick<Settings, 'serviceName' | 'stackName'>): string {
  return stackName === STACK ? serviceName : `${stackName}/${serviceName}`;
}

export function stackOf({ stackName }: Readonly<Record<string, unknown>>): string {
  const { data, error } = schema.shape.stackName.safeParse(stackName);
  if (data === undefined)
    throw new Error(`stackName: ${error.issues[0]?.message}, but is ${JSON.stringify(stackName)}`);
  return data;
}

export const settingNames = Object.keys(schema.shape) as (keyof Settings)[];

export function settingMeaning(name: keyof Settings): string {
  return schema.shape[name].description ?? '';
}

/**
 * Returns an enumeration or a range of numbers, for the table in infra/README.md. Undefined for settings with other
 * values.
 */
export function settingValues(name: keyof Settings): string | undefined {
  const { enum: values, minimum, maximum } = z.toJSONSchema(schema.shape[name]);
  if (values) return values.join(', ');
  return minimum === undefined || maximum === undefined ? undefined : `${minimum} to ${maximum}`;
}

/**
 * Without the other setting, the deployment would succeed, but the domain would not answer, or no mail would be sent.
 */
const needs: readonly (readonly [setting: keyof Settings, other: keyof Settings])[] = [
  ['domainName', 'certificateArn'],
  ['certificateArn', 'domainName'],
  ['mailIdentity', 'mailFrom'],
];

/** Names that the CDK CLI adds to the context. Names that CDK libraries add contain `:` or `/`. */
const cliNames = new Set(['cli-telemetry', 'acknowledged-issue-numbers']);

function isUnknown(name: string): boolean {
  return !/[:/]/.test(name) && !cliNames.has(name) && !Object.hasOwn(schema.shape, name);
}

/**
 * Returns the settings with their defaults. Throws an error that lists the problems. `names` are all names in the
 * context: an unknown one may be a setting with a typing error. `region` is that of the deployment: quotas and ARNs
 * depend on it.
 */
export function readSettings(
  get: (name: keyof Settings) => unknown,
  names: readonly string[] = [],
  region?: string,
): Settings {
  const values = Object.fromEntries(settingNames.map((name) => [name, get(name)])) as Record<keyof Settings, unknown>;
  const isSet = (name: keyof Settings) => values[name] !== undefined && values[name] !== null && values[name] !== '';
  const parsed = schema.safeParse(values);
  const problems = [
    ...(parsed.error?.issues ?? []).map(({ path, message }) => {
      const value = values[path[0] as keyof Settings];
      return `${String(path[0])}: ${message}, but is ${value === undefined ? 'not set' : JSON.stringify(value)}`;
    }),
    ...(parsed.success ? gatewayProblems(parsed.data, region) : []),
    // zod would check a rule of the schema only if all values are valid. The operator should see all problems at once.
    ...needs
      .filter(([setting, other]) => isSet(setting) && !isSet(other))
      .map(([setting, other]) => `${other}: must be set if ${setting} is set`),
    ...(values.disableExecuteApiEndpoint === 'on' && !isSet('domainName')
      ? ['domainName: must be set if disableExecuteApiEndpoint is on, because no other host name would answer']
      : []),
    ...regionProblems(values, region),
    ...names.filter(isUnknown).map((name) => {
      const nearest = nearestName(name, settingNames);
      const advice = nearest === undefined ? 'See "Settings" in infra/README.md.' : `Did you mean ${nearest}?`;
      return `${name}: unknown setting. ${advice}`;
    }),
  ];
  if (parsed.success && problems.length === 0) return parsed.data;
  throw settingsError(problems);
}

export function settingsError(problems: readonly string[]): Error {
  return new Error(
    `Invalid settings (context in cdk.json, or -c name=value):\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
  );
}

/** ARNs of resources that must be in the region of the stack. */
const regional = ['certificateArn', 'alarmTopicArn', 'kmsKeyArn'] as const;

function regionProblems(values: Readonly<Record<string, unknown>>, region: string | undefined): string[] {
  return regional.flatMap((name) => {
    const [, ownRegion = region] = /^arn:[^:]*:[^:]*:([^:]*):/.exec(String(values[name])) ?? [];
    if (ownRegion === region || region === undefined) return [];
    return [`${name}: must be in the region of the stack, ${region}, but is ${JSON.stringify(values[name])}`];
  });
}

/** Mistyped names often differ in case and punctuation. */
const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

function nearestName<N extends string>(text: string, names: readonly N[]): N | undefined {
  const plainName = plain(text);
  const [nearest] = names
    .map((name) => ({ name, edits: distance(plainName, plain(name)) }))
    .sort((a, b) => a.edits - b.edits);
  return nearest && nearest.edits <= Math.ceil(nearest.name.length / 4) ? nearest.name : undefined;
}

/** Returns the Levenshtein distance. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_each, column) => column);
  for (const character of from) {
    let editsToLeft = Infinity;
    row = row.map((above, column, previous) => {
      const diagonal = previous[column - 1] ?? Infinity;
      editsToLeft = Math.min(editsToLeft + 1, above + 1, diagonal + (character === to[column - 1] ? 0 : 1));
      return editsToLeft;
    });
  }
  return row.at(-1) ?? 0;
}
