import * as z from 'zod';
import { LONGEST_URL, parseHttpUrl } from '../../net/httpUrl.ts';
import { JsonValue, limits, list, Name, OpenObject, optional, Text, withOpenKeys } from '../../shared/schema.ts';
import { HeaderSecret } from '../../workspaces/rules/mergeConfig.ts';

/** How agents execute; `ai` when nothing is said (spec 4.10). */
export const executionStrategies = ['ai', 'service', 'service+ai', 'stagehand-agent', 'mcp-tools'] as const;
const serviceIds = ['broken-links', 'crawler', 'screenshot', 'accessibility-checker', 'og-image-checker'] as const;
const providers = ['claude', 'gemini', 'nova', 'openai'] as const;

/** The keys of a JSON object, whichever they are. */
export type OpenKeys = Readonly<Record<string, unknown>>;

const MOST_NAMES = 200;
const MOST_ITEMS = 100;
const MOST_SERVERS = 5;
const MOST_REST_ENDPOINTS = 10;
const MOST_TOOLS = 64;
const LONGEST_PASSWORD = 4_096;

/** An object of which some fields are known and checked, and any others stay as they came; 64 KB together unless another limit is given. */
export function openFields<S extends z.ZodRawShape>(shape: S, bytes: number = limits.objectBytes) {
  return withOpenKeys(shape, bytes).transform(
    ({ open, ...known }) => ({ ...open, ...known }) as unknown as z.output<z.ZodObject<S>> & OpenKeys,
  );
}

const names = (most = MOST_NAMES) => optional(list(Name, most, 0));
const Url = z.string().min(1).max(LONGEST_URL);
/** An address to call, or a template of one; what it leads to is looked at when it is called. */
const CallableUrl = Url.check(
  z.refine((text) => text.includes('{{') || parseHttpUrl(text) !== undefined, {
    error: 'must be a valid http(s) URL or a template of one',
  }),
  // Names and passwords in addresses would be neither encrypted nor hidden.
  z.refine((text) => !/^[a-z]+:\/\/[^/?#]*@/i.test(text), {
    error: 'must not contain credentials: they belong into auth',
  }),
);

/** Headers of a request, by their names. */
const HeaderMap = OpenObject.check(({ value, issues }) => {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, sent] of Object.entries(value)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/.test(name))
      issues.push({ code: 'custom', input: name, path: [name], message: 'must be the name of a header' });
    else
      for (const issue of HeaderSecret.safeParse(sent, { reportInput: true }).error?.issues ?? [])
        issues.push({ ...issue, path: [name] } as never);
  }
}).meta({ type: 'object', additionalProperties: { type: 'string' } });

const neededBy = { none: [], bearer: ['token'], basic: ['username', 'password'], header: ['headers'] } as const;

/** How to authenticate to somebody else's service. Its token, password and headers are secrets. */
const Auth = openFields({
  type: z.enum(['none', 'bearer', 'basic', 'header']),
  token: optional(HeaderSecret.min(1)),
  username: optional(Name),
  password: optional(z.string().max(LONGEST_PASSWORD)),
  headers: optional(HeaderMap),
}).check(({ value, issues }) => {
  for (const field of neededBy[value.type]) {
    if (value[field] === undefined)
      issues.push({
        code: 'custom',
        input: undefined,
        path: [field],
        message: `is required when type is ${value.type}`,
      });
  }
});

const RestEndpoint = openFields({
  id: optional(Name),
  name: optional(Name),
  description: Text.min(1),
  url: CallableUrl,
  method: optional(z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])),
  headers: optional(HeaderMap),
  query: optional(OpenObject),
  body: optional(JsonValue),
  auth: optional(Auth),
  cacheTtlSeconds: optional(z.int().min(0).max(86_400)),
  timeoutMs: optional(z.int().min(1).max(30_000)),
  responsePath: optional(Name),
});

const RestApi = openFields({
  endpoints: list(RestEndpoint, MOST_REST_ENDPOINTS),
  maxResponseBytes: optional(z.int().min(1).max(5_000_000)),
});

const McpServer = z.strictObject({
  id: Name,
  url: CallableUrl,
  name: optional(Name),
  description: optional(Text),
  transport: optional(z.enum(['http'])),
  auth: optional(Auth),
  allowedTools: names(MOST_TOOLS),
  timeoutMs: optional(z.int().min(1).max(120_000)),
});

/** Another model than the usual one, for one phase. */
const AiConfig = z.strictObject({
  provider: optional(z.enum(providers)),
  model: optional(Name),
  responseMimeType: optional(Name),
  maxToolTurns: optional(z.int().min(1).max(16)),
});

const UpTo20 = z.int().min(1).max(20);
const Knowledge = z.strictObject({
  useMemory: optional(z.boolean()),
  maxChunks: optional(UpTo20),
  maxPatterns: optional(UpTo20),
  maxActivities: optional(UpTo20),
});

const anObject = optional(openFields({}));

/** What an agent looks at. Strategies that are not known are kept: whoever runs agents may have more of them. */
const ContextGathering = openFields({
  strategies: optional(list(Name, MOST_NAMES)),
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
});

const Stagehand = openFields({
  mode: optional(z.enum(['dom', 'hybrid', 'cua'])),
  maxSteps: optional(z.int().min(1)),
  model: optional(Name),
  systemPrompt: optional(Text),
  useStructuredOutput: optional(z.boolean()),
  waitUntil: optional(Name),
  navigationTimeout: optional(z.int().min(1)),
});

const described = [
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
] as const;
const ResponseDescriptions = openFields(
  Object.fromEntries(described.map((field) => [field, optional(Text)])) as Record<
    (typeof described)[number],
    z.ZodOptional<typeof Text>
  >,
);

/** How an agent comes to its findings. An empty list of servers takes away those that are stored. */
const Execution = openFields({
  executionStrategy: optional(z.enum(executionStrategies)),
  serviceId: optional(z.enum(serviceIds)),
  aiConfig: optional(AiConfig),
  mcpServers: optional(list(McpServer, MOST_SERVERS, 0)),
  responseDescriptions: optional(ResponseDescriptions),
  strategyOptions: optional(openFields({ 'stagehand-agent': optional(Stagehand) })),
  knowledge: optional(Knowledge),
});

const Response = openFields({
  useAiFormatting: optional(z.boolean()),
  formattingPrompt: optional(Text),
  responseAdapter: optional(z.enum(serviceIds.map((id) => `${id}-response` as const))),
  aiConfig: optional(AiConfig),
});

const Stage = optional(openFields({ enabled: optional(z.boolean()) }));

/** What happens to findings: every stage, unless it is switched off. */
const PostProcess = openFields({
  guardrails: Stage,
  deletePreviousSuggestions: Stage,
  pinResolution: Stage,
  annotations: optional(
    openFields({
      enabled: optional(z.boolean()),
      strategy: optional(z.enum(['findings', 'word-level', 'page-level', 'none'])),
    }),
  ),
  analytics: Stage,
  matchAndMerge: Stage,
  customProcessors: names(),
});

const UserContextField = openFields({
  id: Name,
  title: Name,
  type: z.enum(['string', 'number', 'boolean']),
  required: optional(z.boolean()),
  example: optional(Text),
  defaultValue: optional(
    z.union([Text, z.number(), z.boolean()], { error: 'must be a string, a number or a boolean' }),
  ),
});

const Input = openFields({
  variableKeys: names(),
  userContextFields: optional(list(UserContextField, MOST_ITEMS, 0)),
  inputRequirements: optional(openFields({ requires: names(), requiresOneOf: names() })),
  supportedVariables: names(),
});

const patterns = optional(list(Url, MOST_NAMES, 0));

/** Where an agent runs. */
const Scope = openFields({
  pageScope: patterns,
  pageScopeExclude: patterns,
  contentTypes: names(),
  crossPage: optional(
    openFields({
      enabled: optional(z.boolean()),
      targetProperty: optional(Name),
      pageDiscovery: optional(Name),
      pages: optional(list(z.unknown(), MOST_NAMES, 0)),
      sourceOfTruthKnowledgeSourceId: optional(Name),
    }),
  ),
});

/** What tools remember of how an agent was made; not used when it runs. */
const Setup = openFields({
  setupSamples: optional(list(OpenObject, MOST_ITEMS, 0)),
  checklistOrigin: optional(OpenObject),
});

/** The fields that say how an agent behaves: each version has its own (spec 4.10). */
export const behaviourShape = {
  rawInstructions: optional(Text),
  instructions: optional(Text),
  phaseTimeoutMs: optional(z.int().min(1)),
  contextGathering: optional(ContextGathering),
  execution: optional(Execution),
  response: optional(Response),
  postProcess: optional(PostProcess),
  input: optional(Input),
  scope: optional(Scope),
  setup: optional(Setup),
};
