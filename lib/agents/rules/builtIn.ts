/** A built-in agent: its public fields. What it does is internal to the service. */
export interface BuiltInAgent {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  /** Part of other agents; not in lists. */
  readonly internal?: true;
  readonly inputRequirements: { readonly requires?: readonly string[]; readonly requiresOneOf?: readonly string[] };
}

const text = { requiresOneOf: ['url', 'text'] };
const page = { requires: ['url'] };

/** In the order of lists. */
const catalogue: readonly BuiltInAgent[] = [
  {
    id: 'spell-check',
    name: 'Spell check',
    description: 'Finds misspelt words.',
    category: 'copy-qa',
    inputRequirements: text,
  },
  {
    id: 'grammar-check',
    name: 'Grammar check',
    description: 'Finds mistakes of grammar and punctuation.',
    category: 'copy-qa',
    inputRequirements: text,
  },
  {
    id: 'broken-links',
    name: 'Broken links',
    description: 'Finds links that lead nowhere.',
    category: 'seo',
    inputRequirements: page,
  },
  {
    id: 'pii-detection',
    name: 'Personal data',
    description: 'Finds names, addresses, numbers and other data of persons.',
    category: 'brand-checks',
    inputRequirements: text,
  },
  {
    id: 'profanity-filter',
    name: 'Profanity filter',
    description: 'Finds words that offend.',
    category: 'brand-checks',
    inputRequirements: text,
  },
  {
    id: 'sensitive-data',
    name: 'Sensitive data',
    description: 'Finds keys, passwords and other data that should not be published.',
    category: 'brand-checks',
    inputRequirements: text,
  },
  {
    id: 'lighthouse',
    name: 'Page audit',
    description: 'Measures performance, accessibility, best practices and search engine optimization of a page.',
    category: 'performance',
    inputRequirements: page,
  },
  {
    id: 'accessibility-checker',
    name: 'Accessibility',
    description: 'Finds what keeps people from using a page.',
    category: 'design-checks',
    inputRequirements: page,
  },
  {
    id: 'og-image-checker',
    name: 'Preview images',
    description: 'Checks the images that a page shows where it is shared.',
    category: 'seo',
    inputRequirements: page,
  },
  {
    id: 'lorem-ipsum',
    name: 'Placeholder text',
    description: 'Finds placeholder text that was left behind.',
    category: 'copy-qa',
    inputRequirements: text,
  },
  {
    id: 'crawler',
    name: 'Crawler',
    description: 'Finds the pages of a site for other agents.',
    category: 'service',
    internal: true,
    inputRequirements: page,
  },
  {
    id: 'screenshot',
    name: 'Screenshot',
    description: 'Takes pictures of pages for other agents.',
    category: 'service',
    internal: true,
    inputRequirements: page,
  },
];

const byId = new Map(catalogue.map((agent) => [agent.id, agent]));

export function builtInAgent(agentId: string): BuiltInAgent | undefined {
  return byId.get(agentId);
}

/** The built-in agents in lists. */
export const listedBuiltInAgents: readonly BuiltInAgent[] = /* @__PURE__ */ catalogue.filter(
  ({ internal }) => !internal,
);
