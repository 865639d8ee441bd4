import './stillClock.ts';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import * as registry from '../../functions/workers/index.ts';
import {
  type Capability,
  environment,
  openAll,
  type Opened,
  type QueueName,
  type Uses,
} from '../../lib/app/capability.ts';
import type { Log } from '../../lib/observability/log.ts';
import { newId } from '../../lib/shared/ids.ts';
import { openTable, type Table } from '../../lib/table/table.ts';
import { workerCapabilities } from '../../lib/workers/capabilities.ts';
import { queueVariable } from '../../lib/workers/queues.ts';
import { TABLE_NAME } from './engine.ts';
import type { TableClient } from './leanClient.ts';
import { roleOf, type RunWithRole, variablesOf } from './permissions.ts';
import { activeSimulation, type ServiceCall, type Simulation } from './simulation.ts';
import { recordingMeasures } from './workers.ts';

const MINUTE = 60_000;

export const queueNames = Object.keys(queueVariable) as QueueName[];

export type WorkerName = keyof typeof registry;
export type Deps<N extends WorkerName> = Opened<(typeof registry)[N]['uses']>;
type Variables = Readonly<Record<string, string | undefined>>;

/** What a capability opens to instead. It can be a part of another capability. */
export type StandIn = readonly [capability: Capability<any>, value: unknown];

/** Opens capabilities with stand-ins for some of them and of their parts. */
export function openWith<U extends Uses>(uses: U, standIns: readonly StandIn[], variables: Variables): Opened<U> {
  const opened = standIns.map(([capability, value]) => {
    const { open } = capability;
    capability.open = () => value;
    return () => void (capability.open = open);
  });
  try {
    return openAll(uses, environment(variables));
  } finally {
    for (const restore of opened.toReversed()) restore();
  }
}

const roles = new Map<string, RunWithRole>();

/** Runs the work of a worker in a simulation, with the role of the worker. */
export function runAs<T>(name: WorkerName, simulated: Simulation, work: () => Promise<T>): Promise<T> {
  const runWithRole = roles.get(name) ?? roleOf(name, workerCapabilities(registry[name]));
  roles.set(name, runWithRole);
  return runWithRole(() => activeSimulation.run(simulated, work));
}

/** A message that a worker sends. */
export interface SentMessage {
  readonly body: any;
  readonly groupId?: string | undefined;
  readonly delaySeconds: number;
}

/**
 * Runs the workers of the registry on the table of the test, with the capabilities that they declare. The clock, random
 * numbers and the queues are simulated.
 */
export abstract class WorkerWorld {
  /** The simulated time in epoch milliseconds. */
  now = Date.now();
  random = (): number => 0.5;
  readonly table: Table = openTable(environment(process.env));
  readonly measures = recordingMeasures();
  /** The number of messages that wait for first attempts. If undefined, it cannot be read. */
  backlog: number | undefined = 0;
  protected abstract readonly log: Log;
  readonly #sweepMessages: object[] = [];
  #duePartitions: ReadonlySet<unknown> = new Set();

  /** Takes a message that a worker sends. */
  protected abstract accept(queue: QueueName, message: SentMessage, sender: WorkerName): void;

  /** Environment variables that differ from those of the test. */
  protected get variables(): Variables {
    return {};
  }

  protected get standIns(): readonly StandIn[] {
    return [];
  }

  get call() {
    const { log, measures } = this;
    return { clock: () => this.now, newId: (prefix: string) => newId(prefix, this.now), log, measures };
  }

  /** Opens what a worker uses. */
  open<N extends WorkerName>(name: N): Deps<N> {
    const { uses } = registry[name];
    const variables = variablesOf(name, workerCapabilities(registry[name]), { ...process.env, ...this.variables });
    return openWith(uses as Uses, this.standIns, variables) as Deps<N>;
  }

  /** Runs work with the clock, the random numbers, the queues and the role of a worker. */
  runAs<T>(name: WorkerName, work: () => Promise<T>): Promise<T> {
    const simulated: Simulation = {
      clock: () => this.now,
      random: () => this.random(),
      answer: (call, send) => this.answer(name, call, send),
    };
    return runAs(name, simulated, work);
  }

  /** Runs a worker once. `input` is what its source adds to a call. */
  async run<N extends WorkerName>(name: N, input: object, deps = this.open(name)): Promise<unknown> {
    const call = { ...this.call, deps, deadline: this.now + MINUTE, sentAt: this.now, ...input };
    return this.runAs<unknown>(name, () => registry[name].run(call as never));
  }

  /** Runs the timer of the sweep. Returns its messages, and its failure if it fails. */
  async tick(): Promise<{ readonly messages: object[]; readonly failure?: unknown }> {
    this.#duePartitions = await duePartitions(this.table.connection.client);
    const failure = await this.run('sweep', {}).then(
      () => ({}),
      (error: unknown) => ({ failure: error }),
    );
    return { messages: this.#sweepMessages.splice(0), ...failure };
  }

  /** Runs the timer of the sweep, and the worker for each of its messages. */
  async sweep(): Promise<void> {
    const { messages, ...timer } = await this.tick();
    const deps = this.open('sweepShard');
    const results = await Promise.allSettled(messages.map((message) => this.run('sweepShard', { message }, deps)));
    if ('failure' in timer) throw timer.failure;
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  /** Answers an AWS call of a worker. */
  protected async answer(
    worker: WorkerName,
    { service, operation, input }: ServiceCall,
    send: () => Promise<unknown>,
  ): Promise<unknown> {
    if (worker === 'sweep' && isOfEmptyPartition(input, this.#duePartitions)) return { Items: [] };
    if (service !== 'SQS') return send();
    if (operation === 'GetQueueAttributes') {
      if (this.backlog === undefined) throw new Error('The length of the queue is unknown');
      return { Attributes: { ApproximateNumberOfMessages: String(this.backlog) } };
    }
    const queue = queueOf(input);
    for (const { MessageBody, MessageGroupId: groupId, DelaySeconds: delaySeconds = 0 } of input.Entries) {
      const body: unknown = JSON.parse(MessageBody);
      if (queue === 'sweep') this.#sweepMessages.push(body as object);
      else this.accept(queue, { body, groupId, delaySeconds }, worker);
    }
    return {};
  }
}

/** Returns the queue of a call of SQS. */
export function queueOf({ QueueUrl }: ServiceCall['input']): QueueName {
  return queueNames.find((name) => process.env[queueVariable[name]] === QueueUrl)!;
}

/** Returns the partitions of `gsi3` that have entries. The timer queries about 400, and most of them are empty in tests. */
export async function duePartitions(client: Pick<TableClient, 'send'>): Promise<ReadonlySet<unknown>> {
  const { Items } = await client.send(new ScanCommand({ TableName: TABLE_NAME, IndexName: 'gsi3' }));
  return new Set((Items as Record<string, unknown>[]).map(({ gsi3pk }) => gsi3pk));
}

export function isOfEmptyPartition(input: ServiceCall['input'], due: ReadonlySet<unknown>): boolean {
  return input.IndexName === 'gsi3' && !due.has(input.ExpressionAttributeValues[':pk']);
}
