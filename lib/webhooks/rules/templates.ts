import { isObject } from '../../shared/collections.ts';

/** Fields with a text template. Their variables are in `<name>Data`. */
const TEMPLATE = /^display\w+Template$/;
/** `{name}` in notifications, `{{name}}` in activities. */
const VARIABLE = /\{\{([^{}]+)\}\}|\{([^{}]+)\}/g;

/** A template can repeat a long value many times: 64 KB of data can make 300 MB of text. */
const MAX_FILLED_CHARACTERS = 64 * 1024;

type Json = Readonly<Record<string, unknown>>;

/**
 * Adds for example `displayHeadlineMessage` next to `displayHeadlineMessageTemplate`, at any depth. A variable without
 * a value stays.
 */
export function fillTemplates(data: Json): Record<string, unknown> {
  return fillObject(data, { characters: MAX_FILLED_CHARACTERS });
}

interface Budget {
  characters: number;
}

function fillObject(data: Json, budget: Budget): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).flatMap(([key, value]) => {
      const field: [string, unknown] = [key, fillNested(value, budget)];
      if (typeof value !== 'string' || !TEMPLATE.test(key)) return [field];
      const text = fillTemplate(value, data[`${key}Data`], budget);
      return text === undefined ? [field] : [field, [key.slice(0, -'Template'.length), text]];
    }),
  );
}

function fillNested(value: unknown, budget: Budget): unknown {
  if (Array.isArray(value)) return value.map((item) => fillNested(item, budget));
  return isObject(value) ? fillObject(value, budget) : value;
}

function fillTemplate(template: string, values: unknown, budget: Budget): string | undefined {
  let remaining = budget.characters - template.length;
  const filled = template.replace(VARIABLE, (variable, twice: string | undefined, once: string | undefined) => {
    if (remaining < 0) return '';
    const name = (twice ?? once ?? '').trim();
    const text = asText(isObject(values) ? values[name] : undefined) ?? variable;
    remaining -= text.length;
    return text;
  });
  if (remaining < 0) return undefined;
  budget.characters = remaining;
  return filled;
}

function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (!isObject(value)) return undefined;
  const { name, email, userId } = value;
  return [name, email, userId].find((text) => typeof text === 'string');
}
