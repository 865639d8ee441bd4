import * as z from 'zod';
import { MAX_URL_CHARACTERS, parseHttpUrl } from '../../net/httpUrl.ts';
import { isObject } from '../../shared/collections.ts';
import {
  defineNamedSchema,
  JsonValue,
  limits,
  list,
  Name,
  OpenObject,
  optional,
  Text,
  withOpenKeys,
} from '../../shared/schema.ts';
import { HeaderSecret } from '../../workspaces/rules/mergeConfig.ts';

/** The ways in which agents execute; the default is `ai`. */
export const executionStrategies = ['ai', 'service', 'service+ai', 'stagehand-agent', 'mcp-tools'] as const;
const serviceIds = ['broken-links', 'crawler', 'screenshot', 'accessibility-checker', 'og-image-checker'] as const;
const providers = ['claude', 'gemini', 'nova', 'openai'] as const;

/** A JSON object with any keys. */
export type OpenKeys = Readonly<Record<string, unknown>>;

const MAX_NAMES = 200;
const MAX_ITEMS = 100;
const MAX_SERVERS = 5;
const MAX_REST_ENDPOINTS = 10;
const MAX_TOOLS = 64;
const MAX_PASSWORD = 4_096;

/**
 * Returns the schema of an object that has at most `bytes` bytes as JSON. The schema validates the fields in `shape`
 * and keeps all other fields.
 */
export function openFields<S extends z.ZodRawShape>(shape: S, bytes: number = limits.objectBytes) {
  return withOpenKeys(shape, bytes).transform(
    ({ open, ...declared }) => ({ ...open, ...declared }) as unknown as z.output<z.ZodObject<S>> & OpenKeys,
  );
}

const flag = optional(z.boolean());
const optionalName = optional(Name);
const optionalText = optional(Text);
const anObject = optional(openFields({}));
const names = (limit = MAX_NAMES) => optional(list(Name, limit, 0));
const Url = z.string().min(1).max(MAX_URL_CHARACTERS);
/** A URL that an agent calls, or a template of such a URL. This schema does not check whether the host is public. */
const CallableUrl = Url.check(
  z.refine((text) => text.includes('{{') || parseHttpUrl(text) !== undefined, {
    error: 'must be a valid http(s) URL or a template of one',
  }),
  // Credentials in a URL would be neither encrypted nor redacted.
  z.refine((text) => !/^[a-z]+:\/\/[^/?#]*@/i.test(text), {
    error: 'must not contain credentials: they belong into auth',
  }),
);

/** The values of HTTP headers by header name. */
const HeaderMap = OpenObject.check(({ value, issues }) => {
  if (!isObject(value)) return;
  for (const [name, sent] of Object.entries(value)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/.test(name))
      issues.push({ code: 'custom', input: optionalName, path: [name], message: 'must be the name of a header' });
    else
      for (const issue of HeaderSecret.safeParse(sent, { reportInput: true }).error?.issues ?? [])
        issues.push({ ...issue, path: [name] } as never);
  }
}).meta({ type: 'object', additionalProperties: { type: 'string' } });

const requiredFields = { none: [], bearer: ['token'], basic: ['username', 'password'], header: ['headers'] } as const;

/** Credentials for an external service. `token`, `password` and `headers` are secrets. */
const Auth = /* @__PURE__ */ defineNamedSchema('AgentAuth', () =>
  openFields({
    type: z.enum(['none', 'bearer', 'basic', 'header']),
    token: optional(HeaderSecret.min(1)),
    username: optionalName,
    password: optional(z.string().max(MAX_PASSWORD)),
    headers: optional(HeaderMap),
  }).check(({ value, issues }) => {
    for (const field of requiredFields[value.type]) {
      if (value[field] === undefined)
        issues.push({
          code: 'custom',
          input: undefined,
          path: [field],
          message: `is required when type is ${value.type}`,
        });
    }
  }),
);

const RestEndpoint = /* @__PURE__ */ defineNamedSchema('AgentRestEndpoint', () =>
  openFields({
    id: optionalName,
    name: optionalName,
    description: Text.min(1),
    url: CallableUrl,
    method: optional(z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])),
    headers: optional(HeaderMap),
    query: optional(OpenObject),
    body: optional(JsonValue),
    auth: optional(Auth),
    cacheTtlSeconds: optional(z.int().min(0).max(86_400)),
    timeoutMs: optional(z.int().min(1).max(30_000)),
    responsePath: optionalName,
  }),
);

const RestApi = openFields({
  endpoints: list(RestEndpoint, MAX_REST_ENDPOINTS),
  maxResponseBytes: optional(z.int().min(1).max(5_000_000)),
});

const McpServer = /* @__PURE__ */ defineNamedSchema('AgentMcpServer', () =>
  z.strictObject({
    id: Name,
    url: CallableUrl,
    name: optionalName,
    description: optionalText,
    transport: optional(z.enum(['http'])),
    auth: optional(Auth),
    allowedTools: names(MAX_TOOLS),
    timeoutMs: optional(z.int().min(1).max(120_000)),
  }),
);

/** The model that one phase of an agent uses instead of the default model. */
const AiConfig = /* @__PURE__ */ defineNamedSchema('AgentAiConfig', () =>
  z.strictObject({
    provider: optional(z.enum(providers)),
    model: optionalName,
    responseMimeType: optionalName,
    maxToolTurns: optional(z.int().min(1).max(16)),
  }),
);

const UpTo20 = z.int().min(1).max(20);
const Knowledge = z.strictObject({
  useMemory: flag,
  maxChunks: optional(UpTo20),
  maxPatterns: optional(UpTo20),
  maxActivities: optional(UpTo20),
});

/**
 * What an agent reads before it looks for problems. Strategies that this service does not know are accepted, because
 * the program that runs agents may support them.
 */
const ContextGathering = /* @__PURE__ */ defineNamedSchema('AgentContextGathering', () =>
  openFields({
    strategies: optional(list(Name, MAX_NAMES)),
    strategyOptions: optional(
      openFields({
        'web-page-text': anObject,
        'web-page-screenshot': anObject,
        'web-page-html': anObject,
        'web-page-css': anObject,
        'computed-styles': anObject,
        'sitemap-data': anObject,
        lighthouse: anObject,
        'rest-api': optional(RestApi),
      }),
    ),
    aiConfig: optional(AiConfig),
  }),
);

const Stagehand = openFields({
  mode: optional(z.enum(['dom', 'hybrid', 'cua'])),
  maxSteps: optional(z.int().min(1)),
  model: optionalName,
  systemPrompt: optionalText,
  useStructuredOutput: flag,
  waitUntil: optionalName,
  navigationTimeout: optional(z.int().min(1)),
});

const ResponseDescriptions = openFields(
  Object.fromEntries(
    [
      'summary',
      'title',
      'description',
      'severity',
      'targetText',
      'suggestion',
      'isPageLevel',
      'issueType',
      'confidence',
      'htmlSelector',
      'findingType',
    ].map((field) => [field, optionalText]),
  ),
);

/** How an agent finds problems. In a change, `mcpServers: []` removes the stored servers. */
const Execution = /* @__PURE__ */ defineNamedSchema('AgentExecution', () =>
  openFields({
    executionStrategy: optional(z.enum(executionStrategies)),
    serviceId: optional(z.enum(serviceIds)),
    aiConfig: optional(AiConfig),
    mcpServers: optional(list(McpServer, MAX_SERVERS, 0)),
    responseDescriptions: optional(ResponseDescriptions),
    strategyOptions: optional(openFields({ 'stagehand-agent': optional(Stagehand) })),
    knowledge: optional(Knowledge),
  }),
);

const Response = /* @__PURE__ */ defineNamedSchema('AgentResponseConfig', () =>
  openFields({
    useAiFormatting: flag,
    formattingPrompt: optionalText,
    responseAdapter: optional(z.enum(serviceIds.map((id) => `${id}-response` as const))),
    aiConfig: optional(AiConfig),
  }),
);

const Stage = optional(openFields({ enabled: flag }));

/** How an agent processes the problems that it found. Each of these stages runs unless its `enabled` is false. */
const PostProcess = /* @__PURE__ */ defineNamedSchema('AgentPostProcess', () =>
  openFields({
    guardrails: Stage,
    deletePreviousSuggestions: Stage,
    pinResolution: Stage,
    annotations: optional(
      openFields({
        enabled: flag,
        strategy: optional(z.enum(['findings', 'word-level', 'page-level', 'none'])),
      }),
    ),
    analytics: Stage,
    matchAndMerge: Stage,
    customProcessors: names(),
  }),
);

const UserContextField = /* @__PURE__ */ defineNamedSchema('AgentUserContextField', () =>
  openFields({
    id: Name,
    title: Name,
    type: z.enum(['string', 'number', 'boolean']),
    required: flag,
    example: optionalText,
    defaultValue: optional(
      z.union([Text, z.number(), z.boolean()], { error: 'must be a string, a number or a boolean' }),
    ),
  }),
);

const Input = /* @__PURE__ */ defineNamedSchema('AgentInput', () =>
  openFields({
    variableKeys: names(),
    userContextFields: optional(list(UserContextField, MAX_ITEMS, 0)),
    inputRequirements: optional(openFields({ requires: names(), requiresOneOf: names() })),
    supportedVariables: names(),
  }),
);

const patterns = optional(list(Url, MAX_NAMES, 0));

/** The pages and content types on which an agent runs. */
const Scope = /* @__PURE__ */ defineNamedSchema('AgentScope', () =>
  openFields({
    pageScope: patterns,
    pageScopeExclude: patterns,
    contentTypes: names(),
    crossPage: optional(
      openFields({
        enabled: flag,
        targetProperty: optionalName,
        pageDiscovery: optionalName,
        pages: optional(list(z.unknown(), MAX_NAMES, 0)),
        sourceOfTruthKnowledgeSourceId: optionalName,
      }),
    ),
  }),
);

/** Notes that editing tools store with an agent. They have no effect when the agent runs. */
const Setup = /* @__PURE__ */ defineNamedSchema('AgentSetup', () =>
  openFields({
    setupSamples: optional(list(OpenObject, MAX_ITEMS, 0)),
    checklistOrigin: optional(OpenObject),
  }),
);

/** The documented fields of a version, which define what the agent does. */
export const behaviourShape = {
  rawInstructions: optionalText,
  instructions: optionalText,
  phaseTimeoutMs: optional(z.int().min(1)),
  contextGathering: optional(ContextGathering),
  execution: optional(Execution),
  response: optional(Response),
  postProcess: optional(PostProcess),
  input: optional(Input),
  scope: optional(Scope),
  setup: optional(Setup),
};
