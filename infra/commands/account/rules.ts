import { quotas } from '../simulate/quotas.ts';
import type { ModelNeed, Needs, RequestLimits } from './needs.ts';
import type { MailAccount, ModelAccess, Reading, Readings } from './readings.ts';

export interface AccountFinding {
  readonly is: string;
  readonly needed: string;
  /** Where the operator changes what is missing, such as a page of the console or a file. */
  readonly where: string;
  readonly isRefused?: true;
}

export interface AccountCheck {
  readonly findings: readonly AccountFinding[];
  readonly unread: readonly string[];
  readonly unreadAccount?: string;
}

export function checkReadings(needs: Needs, readings: Readings): AccountCheck {
  const parts = [
    part("Lambda's limit of concurrent executions", readings.concurrency, (limit) => concurrencyFindings(needs, limit)),
    part('the limits of API Gateway', readings.requests, (limits) => requestFindings(needs.requests, limits)),
    part('the properties of tables in the region', readings.tableProperties, (known) => tableFindings(needs, known)),
    part('the state of Amazon SES', readings.mail, mailFindings),
    part('the SES identity of the setting mailFrom', readings.isMailIdentityVerified, (isVerified) =>
      identityFindings(needs.mailIdentity, isVerified),
    ),
    ...needs.models.map((need) =>
      part(`the access to model ${need.id}`, readings.models.get(need.id), (access) => modelFindings(need, access)),
    ),
  ].filter((each) => each !== undefined);
  const failures = parts.map(({ failed }) => failed);
  const [unreadAccount] = failures;
  if (unreadAccount !== undefined && failures.every((failed) => failed !== undefined))
    return { findings: [], unread: [], unreadAccount };
  return {
    findings: parts.flatMap(({ findings }) => findings),
    unread: parts.flatMap(({ unread }) => unread ?? []),
  };
}

export function accountReport({ findings, unread, unreadAccount }: AccountCheck): string {
  if (unreadAccount !== undefined) return `The account was not read. ${unreadAccount}`;
  const lines = [
    ...findings.map(
      ({ is, needed, where, isRefused }) =>
        `  ${isRefused ? 'Refused: ' : ''}${is}\n    Needed: ${needed}\n    Where: ${where}`,
    ),
    ...unread.map((text) => `  ${text}`),
  ];
  if (lines.length === 0) return 'The account and the region have what the deployment needs.';
  return `The account and the region:\n${lines.join('\n')}`;
}

interface Part {
  readonly findings: readonly AccountFinding[];
  readonly unread?: string;
  readonly failed?: string;
}

function part<T>(
  name: string,
  reading: Reading<T> | undefined,
  find: (value: T) => readonly AccountFinding[],
): Part | undefined {
  if (reading === undefined) return undefined;
  if ('value' in reading) return { findings: find(reading.value) };
  if ('denied' in reading) return { findings: [], unread: `Not read: ${name}. Allow ${reading.denied}.` };
  return { findings: [], unread: `Not read: ${name}. ${reading.failed}`, failed: reading.failed };
}

function concurrencyFindings({ concurrency: setting, queueConcurrency }: Needs, limit: number): AccountFinding[] {
  const needed = Math.max(quotas.concurrency.limit, setting);
  return [
    ...(limit < needed
      ? [
          {
            is: `Lambda runs at most ${limit} executions at a time, for all functions of the account in this region.`,
            needed: `${needed}. The queues alone start up to ${queueConcurrency}. With too few, requests get status 503 and webhooks are late.`,
            where: quotaRequest('AWS Lambda', 'Concurrent executions', 'lambda', 'L-B99A9384', needed),
          },
        ]
      : []),
    ...(limit === setting
      ? []
      : [
          {
            is: `The setting accountConcurrency is ${setting}, but the limit of the account is ${limit}.`,
            needed: `${limit}, so that alarm ConcurrencyHigh starts at 80 % of the limit.`,
            where: '"context" in cdk.json. Change it again when AWS changes the limit.',
          },
        ]),
  ];
}

function requestFindings(needed: RequestLimits, { rate, burst }: RequestLimits): AccountFinding[] {
  if (needed.rate <= rate && needed.burst <= burst) return [];
  const desired = Math.max(needed.rate, needed.burst > burst ? 2 * needed.burst : rate);
  return [
    {
      is: `API Gateway takes ${rate} requests a second in bursts of ${burst}, for all APIs of the account in this region.`,
      needed: `${needed.rate} a second in bursts of ${needed.burst}, which the template sets. Or lower the settings requestsPerSecond and requestBurst in cdk.json.`,
      where: `${quotaRequest('Amazon API Gateway', 'Throttle rate', 'apigateway', 'L-8A5B8E43', desired)}. AWS derives the burst from the rate.`,
      isRefused: true,
    },
  ];
}

function tableFindings({ table: { type, properties } }: Needs, known: readonly string[]): AccountFinding[] {
  const unknown = properties.filter((property) => !known.includes(property));
  if (unknown.length === 0) return [];
  return [
    {
      is: `CloudFormation in this region does not know ${unknown.join(', ')} of ${type}.`,
      needed: unknown.includes('VectorIndexes')
        ? 'a region with vector indexes of DynamoDB. No quota or request adds them.'
        : 'a region with these properties. No quota or request adds them.',
      where: 'AWS_REGION.',
      isRefused: true,
    },
  ];
}

function mailFindings({ isInSandbox, isSendingEnabled, suppressedReasons }: MailAccount): AccountFinding[] {
  const missing = ['BOUNCE', 'COMPLAINT'].filter((reason) => !suppressedReasons.includes(reason));
  return [
    ...(isInSandbox
      ? [
          {
            is: 'Amazon SES is in the sandbox in this region: it sends 200 mails a day, only to verified addresses.',
            needed: 'production access. AWS answers the request, usually within a day.',
            where: 'SES console, "Account dashboard", "Request production access".',
          },
        ]
      : []),
    ...(isSendingEnabled
      ? []
      : [
          {
            is: 'Amazon SES has stopped the mail of the account in this region.',
            needed: 'sending enabled.',
            where: 'SES console, "Account dashboard", which says why, and a case at AWS Support.',
          },
        ]),
    ...(missing.length === 0
      ? []
      : [
          {
            is: `The account-level suppression list of Amazon SES does not include ${missing.join(' and ')}.`,
            needed: 'BOUNCE and COMPLAINT. The service does not process bounces and complaints itself.',
            where: 'SES console, "Suppression list", "Account-level settings".',
          },
        ]),
  ];
}

function identityFindings(identity: string | undefined, isVerified: boolean): AccountFinding[] {
  if (isVerified) return [];
  return [
    {
      is: `Amazon SES has not verified the identity ${identity} in this region.`,
      needed: 'a verified identity of the setting mailFrom. Otherwise SES refuses every mail.',
      where: 'SES console, "Identities". Or set mailIdentity in cdk.json.',
    },
  ];
}

function modelFindings(need: ModelNeed, { exists, isAuthorized, agreement }: ModelAccess): AccountFinding[] {
  const { setting, id, model, isProfile } = need;
  const other = setting === 'embeddingModel' ? 'lexical' : 'another model';
  if (!exists) {
    return [
      {
        is: `Amazon Bedrock has no ${isProfile ? 'inference profile' : 'model'} ${id} in this region.`,
        needed: `an id that the region has in the setting ${setting}, or ${other}.`,
        where: `Bedrock console, "${isProfile ? 'Cross-region inference' : 'Model catalog'}".`,
      },
    ];
  }
  // Amazon's own models need no agreement.
  if (agreement !== 'AVAILABLE' && !model.startsWith('amazon.')) {
    return [
      {
        is: `The account has no agreement for model ${model} of Amazon Bedrock (${agreement}).`,
        needed: `${model.startsWith('anthropic.') ? "Anthropic's form for the first use, and " : ''}a first call by a user with aws-marketplace:Subscribe. The roles of the functions may not subscribe.`,
        where: `Bedrock console, "Model catalog", ${model}, "Open in playground". See "Models that read files" in infra/README.md.`,
      },
    ];
  }
  if (isAuthorized) return [];
  return [
    {
      is: `The account may not use model ${model} of Amazon Bedrock.`,
      needed: `access to the model, or ${other} in the setting ${setting}.`,
      where:
        'the policies of the organization (SCP) and of your role, which must not deny the model. Otherwise a case at AWS Support.',
    },
  ];
}

function quotaRequest(service: string, quota: string, serviceCode: string, code: string, value: number): string {
  return `Service Quotas, ${service}, "${quota}" (${code}), or: aws service-quotas request-service-quota-increase --service-code ${serviceCode} --quota-code ${code} --desired-value ${value}`;
}
