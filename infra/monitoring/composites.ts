import { CfnCompositeAlarm, type CfnCompositeAlarmProps } from 'aws-cdk-lib/aws-cloudwatch';
import type { Stack } from 'aws-cdk-lib/core';
import { capabilitiesOf } from '../../lib/http/capabilities.ts';
import { pascal } from '../constructs/names.ts';
import type { Settings } from '../settings/settings.ts';
import {
  type AlarmDeclaration,
  type AlarmText,
  alarmText,
  type CompositeName,
  createAlarm,
  type MonitoringProps,
  type Notices,
} from './alarms.ts';

/** An alarm and its cause look at the same minutes, but CloudWatch evaluates them up to two minutes apart. */
const WAIT_SECONDS = 120;
/**
 * After a cause, the period of an alarm can still contain the outage, and late work is done in the minutes after it.
 */
const EXTENSION_SECONDS = 600;

type Cause = CompositeName | 'families';

interface CompositeDeclaration {
  readonly follows: readonly Cause[];
  readonly text: Omit<AlarmText, 'threshold' | 'children'>;
}

interface Composite extends CompositeDeclaration {
  readonly id: string;
  readonly children: readonly string[];
}

/**
 * An alarm names its composite alarm in `notices`. `follows` names what suppresses the notices of a composite alarm.
 */
const declared: Readonly<Record<CompositeName, CompositeDeclaration>> = {
  TableCause: {
    follows: [],
    text: {
      broken: 'The table fails: it does not answer, or throttles calls after all tries.',
      impacts: ['requests of all customers answer UNAVAILABLE, and webhooks, mails and jobs wait'],
      firstStep: 'look at row "Table" of the dashboard, and for DynamoDB in the AWS Health Dashboard.',
      runbook: 'table-outage',
      severity: 'high',
    },
  },
  // CloudWatch ignores missing data of DynamoDB, so the alarms of ThrottledTable can stay active after the incident. As
  // a cause, ThrottledTable would then suppress the alarms of all families.
  ThrottledTable: {
    follows: ['TableCause'],
    text: {
      broken: 'The table or one of its indexes throttles calls.',
      impacts: ['requests of customers are slow or answer UNAVAILABLE, and webhooks are late'],
      firstStep: 'look at row "Table" of the dashboard. Are reads or writes throttled, and in which index?',
      runbook: 'throttled-table',
      severity: 'high',
    },
  },
  QueuesCause: {
    follows: ['TableCause'],
    text: {
      broken: 'Queues or workers fail: messages are not sent, wait too long, or cannot be processed.',
      impacts: ['webhooks, mails, notifications and jobs of customers are late. Requests succeed'],
      firstStep: 'look at row "Queues and workers" of the dashboard. Which worker fails, or which queue is late?',
      runbook: 'queue-outage',
      severity: 'high',
    },
  },
  GatewayCause: {
    follows: ['TableCause', 'families'],
    text: {
      broken: 'Requests do not get to the functions, or the functions cannot start.',
      impacts: ['requests of customers fail, possibly on every endpoint'],
      firstStep: 'look at graph "4xx, 5xx" of the dashboard, and open the first of the alarms that is active.',
      runbook: 'api-faults',
      severity: 'high',
    },
  },
  MailCause: {
    follows: ['TableCause'],
    text: {
      broken: 'Mails cannot be sent, or wait too long.',
      impacts: ['users and owners get mails late or never, and owners may not be able to log in'],
      firstStep: 'look at row "E-mail" of the dashboard, and for Amazon SES in the AWS Health Dashboard.',
      runbook: 'failing-mail',
      severity: 'high',
    },
  },
  ModelCause: {
    follows: ['TableCause'],
    text: {
      broken: 'A model of Amazon Bedrock fails, or judgments wait too long for it.',
      impacts: ['searches in judgments and questions about files fail, and new judgments are found late'],
      firstStep: 'look at row "/v2/memory" of the dashboard. Do calls fail? Then open the alarm that was active first.',
      runbook: 'model-outage',
      severity: 'high',
    },
  },
  DeadLettersFilled: {
    follows: ['TableCause', 'QueuesCause'],
    text: {
      broken: 'A dead-letter queue has messages.',
      impacts: ['the webhooks, mails or jobs of these messages are late'],
      firstStep: 'look at graph "Dead letters" of the dashboard. Which queue has dead letters?',
      runbook: 'dead-letters',
      severity: 'low',
    },
  },
};

export function usesModels({
  embeddingModel,
  claudeModelId,
  novaModelId,
}: Pick<Settings, 'embeddingModel' | 'claudeModelId' | 'novaModelId'>): boolean {
  return embeddingModel !== 'lexical' || claudeModelId !== undefined || novaModelId !== undefined;
}

/** The permissions of functions show which causes make them fail. */
function causesOfFamily({ functions }: MonitoringProps['families'][number]): CompositeName[] {
  const resources = functions.flatMap(({ endpoint }) =>
    capabilitiesOf(endpoint).flatMap(({ grants }) => grants.map(({ resource }) => resource)),
  );
  const causes = resources.flatMap((resource): CompositeName[] => {
    if (resource === 'table' || resource.startsWith('index/')) return ['TableCause'];
    if (resource === 'mail/identity') return ['MailCause'];
    return resource.startsWith('model/') ? ['ModelCause'] : [];
  });
  return [...new Set(causes)].sort().reverse();
}

/**
 * Leaves out causes without alarms. A composite alarm costs money, so one that is not in `declared` is also left out if
 * it has one alarm and follows no cause.
 */
function compositesOf(declarations: readonly AlarmDeclaration[], families: MonitoringProps['families']): Composite[] {
  const composites = new Map<string, Composite>();
  for (const { id, notices, text } of declarations) {
    if (notices === undefined) continue;
    const composite = compositeFor(id, notices, text, families);
    const before = composites.get(composite.id);
    composites.set(composite.id, before ? { ...before, children: [...before.children, id] } : composite);
  }
  const exists = (cause: Cause) => cause === 'families' || composites.has(cause);
  return [...composites.values()]
    .map((each) => ({ ...each, follows: each.follows.filter(exists) }))
    .filter(({ id, children, follows }) => id in declared || children.length > 1 || follows.length > 0);
}

function compositeFor(id: string, notices: Notices, text: AlarmText, families: MonitoringProps['families']): Composite {
  if ('through' in notices) return { id: notices.through, children: [id], ...declared[notices.through] };
  if ('follows' in notices) return { id: `${id}Notice`, children: [id], text, follows: notices.follows };
  const family = families.find((each) => each.family === notices.family);
  const follows = family ? causesOfFamily(family) : [];
  return { id: `${pascal(notices.family)}Notice`, children: [id], text, follows };
}

export function createAlarms(
  stack: Stack,
  declarations: readonly AlarmDeclaration[],
  topics: readonly string[],
  { families, settings: { runbookBaseUrl } }: MonitoringProps,
): void {
  const alarms = new Map(declarations.map((each) => [each.id, createAlarm(stack, each, runbookBaseUrl)]));
  const composites = new Map(compositesOf(declarations, families).map((each) => [each.id, each]));
  const arnsOf = (ids: readonly string[]) => ids.flatMap((id) => alarms.get(id)?.alarmArn ?? []);
  const ofFamilies = declarations.filter(({ notices }) => notices && 'family' in notices).map(({ id }) => id);
  const created = new Map<string, CfnCompositeAlarm>();
  const createOnce = (id: string, props: () => CfnCompositeAlarmProps): string => {
    const alarm = created.get(id) ?? new CfnCompositeAlarm(stack, id, props());
    created.set(id, alarm);
    return alarm.attrArn;
  };

  const suppressorOf = (follows: readonly Cause[]): string => {
    const names = follows.map((cause) => (cause === 'families' ? 'Families' : cause));
    const causes = follows.flatMap((cause) => (cause === 'families' ? arnsOf(ofFamilies) : [arnOf(cause)]));
    if (causes.length === 1) return causes[0] ?? '';
    return createOnce(names.join('Or'), () => ({
      alarmRule: anyOf(causes),
      alarmDescription: `Suppresses the alarms that follow from ${names.join(' or ')}. It sends no notices.`,
    }));
  };
  const arnOf = (id: string): string =>
    createOnce(id, () => {
      const { children, follows, text } = composites.get(id) as Composite;
      return {
        alarmRule: anyOf(arnsOf(children)),
        alarmDescription: alarmText({ ...text, threshold: thresholdOf(follows), children }, runbookBaseUrl),
        ...(topics.length > 0 && { alarmActions: [...topics], okActions: [...topics] }),
        ...(follows.length > 0 && {
          actionsSuppressor: suppressorOf(follows),
          actionsSuppressorWaitPeriod: WAIT_SECONDS,
          actionsSuppressorExtensionPeriod: EXTENSION_SECONDS,
        }),
      };
    });

  for (const id of composites.keys()) arnOf(id);
  const actions = topics.map((alarmActionArn) => ({ bind: () => ({ alarmActionArn }) }));
  const inComposites = new Set([...composites.values()].flatMap(({ children }) => children));
  for (const [id, alarm] of alarms) {
    if (inComposites.has(id)) continue;
    alarm.addAlarmAction(...actions);
    alarm.addOkAction(...actions);
  }
}

function thresholdOf(follows: readonly Cause[]): string {
  const causes = follows.map((cause) => (cause === 'families' ? 'an alarm of an API family' : cause));
  return `one of its alarms is active.${causes.length > 0 ? ` It sends no notices while ${causes.join(' or ')} is active.` : ''}`;
}

function anyOf(arns: readonly string[]): string {
  return arns.map((arn) => `ALARM("${arn}")`).join(' OR ');
}
