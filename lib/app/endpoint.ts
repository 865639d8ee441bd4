import type * as logMessages from '../observability/logMessages.ts';
import type * as z from 'zod';
import type { Capability, Opened, Uses } from './capability.ts';
import type { LimitClass } from '../workspaces/rules/rateLimit.ts';
import type { ErrorStatus } from '../shared/errors.ts';
import type { Feature } from '../shared/features.ts';

/** Who calls, as verified from the headers. The tenant is the API key: everything a customer stores lives under it. */
export interface ApiKeyCaller {
  readonly level: 'apiKey';
  readonly tenant: string;
  readonly workspaceId: string;
  /** The SHA-256 of the auth token that came in the headers. */
  readonly tokenHash: Uint8Array;
  /** What the operator does not offer to this API key. */
  readonly withheld: readonly Feature[];
  /** Calls per second by class, where they differ from the settings. */
  readonly limits: Readonly<Partial<Record<LimitClass, number>>>;
  /** Seals this tenant's page tokens; 32 bytes. */
  readonly pageKey: Uint8Array;
}

export interface WorkspaceCaller {
  readonly level: 'workspace';
  readonly workspaceId: string;
  readonly ownerEmail: string;
  /** The auth token of the workspace as it came in the headers. */
  readonly authToken: string;
  readonly pageKey: Uint8Array;
}

export interface AnonymousCaller {
  readonly level: 'none';
}

export interface CallerOf {
  apiKey: ApiKeyCaller;
  workspace: WorkspaceCaller;
  none: AnonymousCaller;
}
export type AuthLevel = keyof CallerOf;
export type Caller = CallerOf[AuthLevel];

/** A message of the catalogue. */
type LogMessage = (typeof logMessages)[keyof typeof logMessages];

export interface Log {
  info(message: LogMessage, keys?: Record<string, unknown>): void;
  warn(message: LogMessage, keys?: Record<string, unknown>): void;
  error(message: LogMessage, keys?: Record<string, unknown>): void;
}

/** Everything that `run` may use. */
export interface EndpointCall<Input, U extends Uses, A extends AuthLevel> {
  readonly input: Input;
  readonly caller: CallerOf[A];
  readonly deps: Opened<U>;
  /** When the request arrived, epoch milliseconds. */
  readonly now: number;
  /** A new identifier, `<prefix>_` and 27 base-62 characters that sort by time. */
  newId(prefix: string): string;
  /**
   * The same, but one that a repetition under the same Idempotency-Key gives again, for things of which a second one must not come
   * from a call that was cut off: `number` says which of the call's ids it is.
   */
  repeatableId(prefix: string, number: number): string;
  /** The address that the connection came from, as the gateway saw it. */
  readonly sourceIp: string;
  readonly log: Log;
}

/** Error messages that published clients know. They replace the general ones; `details.issues` name the fields all the same. */
export interface FixedMessages {
  /** A field of `data` that is missing, by its name. */
  readonly required?: Readonly<Record<string, string>>;
  /** A field of `data` that does not have its format, by its name. */
  readonly format?: Readonly<Record<string, string>>;
  /** Data of which a field has the wrong type. */
  readonly type?: string;
  /** Wrong credentials. */
  readonly denied?: string;
}

export interface Example {
  /** The `data` of a request. */
  data: unknown;
  /** What stands beside `status` and `message` in the answer. */
  result: unknown;
}

/** One endpoint, declared once; route, function, IAM, environment, bundle, alarm text and OpenAPI operation derive from it. */
export interface Declaration<I extends z.ZodType, O extends z.ZodType, U extends Uses, A extends AuthLevel> {
  readonly path: `/v1/${string}` | `/v2/${string}`;
  readonly summary: string;
  readonly auth: A;
  /** A `write` of a caller with credentials takes an `Idempotency-Key`. */
  readonly kind: 'read' | 'write';
  /** Set for calls that cost far more than others; left out, calls count by their kind towards the limits of an API key. */
  readonly limitClass?: 'expensive';
  /** The schema of `data`. */
  readonly input: I;
  /** `optional` when the specification allows a request without a body. */
  readonly body?: 'required' | 'optional';
  /** The schema of what stands beside `status` and `message` in the result: `{ data }`, `{ data, nextPageToken }` or `{}`. */
  readonly output: O;
  /** `null` when the result has neither `status` nor `message` (spec 4.14): it is the output alone. */
  readonly message: string | ((output: z.output<O>, input: z.output<I>) => string) | null;
  readonly fixedMessages?: FixedMessages;
  /** What `run` may throw besides the statuses that every endpoint can answer (`commonErrors`). */
  readonly errors: readonly ErrorStatus[];
  readonly uses: U;
  /** Read the credentials afresh instead of from memory: for functions that hand out or revoke them. */
  readonly freshCredentials?: boolean;
  /** The largest answer in bytes, where 5 MB do not suffice; a function can return 6 MB. */
  readonly answerBytes?: number;
  /** The parameter that makes an answer smaller, named when it would exceed the limit. */
  readonly narrowBy?: keyof z.output<I> & string;
  /** What is broken for whom when this endpoint fails: the text of its alarm. */
  readonly impact: string;
  readonly example: Example;
  readonly timeoutSeconds?: number;
  readonly memoryMb?: number;
}

/** The statuses that any endpoint may answer, without declaring them. */
export const commonErrors = [
  'INVALID_ARGUMENT',
  'INTERNAL',
  'UNAVAILABLE',
  'DEADLINE_EXCEEDED',
] as const satisfies readonly ErrorStatus[];

export type Run<I extends z.ZodType, O extends z.ZodType, U extends Uses, A extends AuthLevel> = (
  call: EndpointCall<z.output<I>, U, A>,
) => Promise<z.output<O>>;

export interface EndpointOf<
  I extends z.ZodType,
  O extends z.ZodType,
  U extends Uses,
  A extends AuthLevel,
> extends Declaration<I, O, U, A> {
  readonly run: Run<I, O, U, A>;
}

/** An endpoint that shares the function of another one: the same operation in the other version of the API. */
export interface TwinOf<
  I extends z.ZodType,
  O extends z.ZodType,
  U extends Uses,
  A extends AuthLevel,
> extends EndpointOf<I, O, U, A> {
  /** The path of the endpoint whose function answers. */
  readonly twinOf: string;
  /** What differs, as a fragment behind "The same as <path>: "; absent when nothing does. */
  readonly differs?: string;
}

/** An endpoint whose types are not needed, as the registry's readers see it. */
export type Endpoint = Omit<
  Declaration<z.ZodType, z.ZodType, Record<string, Capability<unknown>>, AuthLevel>,
  'narrowBy' | 'message'
> & {
  readonly narrowBy?: string;
  // `never` because the registry holds endpoints of every input and output type.
  readonly message: string | ((output: never, input: never) => string) | null;
  readonly run: (call: never) => Promise<unknown>;
  /** As in `TwinOf`; absent for an endpoint with a function of its own. */
  readonly twinOf?: string;
  readonly differs?: string;
};

/** Declares an endpoint. Importing a declaration has no effect: nothing is opened, read or timed before the first request. */
export function defineEndpoint<I extends z.ZodType, O extends z.ZodType, U extends Uses, A extends AuthLevel>(
  declaration: Declaration<I, O, U, A>,
  run: Run<I, O, U, A>,
): EndpointOf<I, O, U, A> {
  return { ...declaration, run };
}

/** `v2.auth.permissions.get` of `/v2/auth/permissions/get`: the operation's name in logs, metrics and OpenAPI. */
export function endpointId(path: string): string {
  return path.slice(1).split('/').join('.');
}

/** The family of what lies beneath no other: what customers read of the API. */
const TOP_FAMILY = 'reference';

/** `v2/auth` of `/v2/auth/permissions/get`: the API family, which has a stack, an alarm and a dashboard row of its own; `reference` of `/docs`. */
export function familyOf(path: string): string {
  const [, version, name] = path.split('/');
  return name === undefined ? TOP_FAMILY : `${version}/${name}`;
}

/** `permissions/get` of `/v2/auth/permissions/get`, and `docs` of `/docs`: what tells the members of a family apart. */
export function pathInFamily(path: string): string {
  const family = familyOf(path);
  return path.slice(family === TOP_FAMILY ? 1 : family.length + 2);
}

/** `/v1/users/get` of `/v2/users/get`, and the other way round: the same operation in the other version of the API. */
export function otherVersion(path: string): `/v1/${string}` | `/v2/${string}` {
  const rest = path.slice('/v1/'.length);
  return path.startsWith('/v1/') ? `/v2/${rest}` : `/v1/${rest}`;
}

/** `functions/v2/auth/permissions/get.ts` of `/v2/auth/permissions/get`. */
export function sourceFile(path: string): string {
  return `functions${path}.ts`;
}
