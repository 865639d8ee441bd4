import { Scanner, UnsupportedDefinition } from '../scanner.ts';
import type { Resource } from '../template.ts';
import { requireSupported } from './definitions.ts';

export type Rule =
  | { readonly kind: 'state'; readonly alarm: string; readonly isActive: boolean }
  | { readonly kind: 'constant'; readonly value: boolean }
  | { readonly kind: 'not'; readonly of: Rule }
  | { readonly kind: 'all' | 'any'; readonly of: readonly Rule[] };

/** An alarm on other alarms. While its suppressor is active, it sends no notices. */
export interface CompositeModel {
  readonly name: string;
  readonly description: string;
  readonly rule: Rule;
  readonly suppressor: Suppressor | undefined;
  readonly notifies: boolean;
}

export interface Suppressor {
  readonly alarm: string;
  readonly waitSeconds: number;
  readonly extensionSeconds: number;
}

interface CompositeProperties {
  readonly AlarmRule: string;
  readonly AlarmDescription?: string;
  readonly ActionsSuppressor?: string;
  readonly ActionsSuppressorWaitPeriod?: number;
  readonly ActionsSuppressorExtensionPeriod?: number;
}

const supportedProperties = [
  'ActionsEnabled',
  'ActionsSuppressor',
  'ActionsSuppressorExtensionPeriod',
  'ActionsSuppressorWaitPeriod',
  'AlarmActions',
  'AlarmDescription',
  'AlarmName',
  'AlarmRule',
  'InsufficientDataActions',
  'OKActions',
  'Tags',
];

/** Returns the logical id without the hash that the CDK appends. */
export function alarmName({ path }: Resource): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/[0-9A-F]{8}$/, '');
}

export function notifies({ ActionsEnabled, AlarmActions }: Resource['properties']): boolean {
  return ActionsEnabled !== false && Array.isArray(AlarmActions) && AlarmActions.length > 0;
}

/**
 * `names` are the names of all alarms, by ARN and by physical name. Throws UnsupportedDefinition for an alarm that the
 * local run does not support.
 */
export function compositeOf(resource: Resource, names: ReadonlyMap<string, string>): CompositeModel {
  const { properties } = resource;
  requireSupported(properties, supportedProperties, 'a composite alarm');
  const nameOf = (reference: string) => {
    const name = names.get(reference);
    if (name === undefined) throw new UnsupportedDefinition(`the unknown alarm "${reference}"`);
    return name;
  };
  const {
    ActionsSuppressor,
    ActionsSuppressorWaitPeriod = 0,
    ActionsSuppressorExtensionPeriod = 0,
    AlarmDescription = '',
    AlarmRule,
  } = properties as unknown as CompositeProperties;
  return {
    name: alarmName(resource),
    description: AlarmDescription,
    rule: readRule(AlarmRule, nameOf),
    suppressor:
      ActionsSuppressor === undefined
        ? undefined
        : {
            alarm: nameOf(ActionsSuppressor),
            waitSeconds: ActionsSuppressorWaitPeriod,
            extensionSeconds: ActionsSuppressorExtensionPeriod,
          },
    notifies: notifies(properties),
  };
}

/**
 * `AND` binds more tightly than `OR`. `INSUFFICIENT_DATA` is not supported, because an alarm of the local run is always
 * either active or OK.
 */
function readRule(text: string, nameOf: (reference: string) => string): Rule {
  const scanner = new Scanner(text, /\s*(\w+|"[^"]*"|[()])/y);
  const chain = (operator: 'AND' | 'OR', part: () => Rule): Rule => {
    const first = part();
    const rules = [first];
    while (scanner.takeOneOf([operator])) rules.push(part());
    return rules.length === 1 ? first : { kind: operator === 'AND' ? 'all' : 'any', of: rules };
  };
  const term = (): Rule => {
    const token = scanner.take();
    if (token === 'NOT') return { kind: 'not', of: term() };
    if (token === 'TRUE' || token === 'FALSE') return { kind: 'constant', value: token === 'TRUE' };
    if (token === '(') {
      const rule = alternatives();
      scanner.take(')');
      return rule;
    }
    if (token !== 'ALARM' && token !== 'OK') throw scanner.problem(`"${token}" is not a known function`);
    scanner.take('(');
    const alarm = nameOf(scanner.take().replace(/^"|"$/g, ''));
    scanner.take(')');
    return { kind: 'state', alarm, isActive: token === 'ALARM' };
  };
  const alternatives = (): Rule => chain('OR', () => chain('AND', term));
  const rule = alternatives();
  scanner.end();
  return rule;
}

export function alarmsOf(rule: Rule): string[] {
  if (rule.kind === 'state') return [rule.alarm];
  if (rule.kind === 'constant') return [];
  return [...new Set([rule.of].flat().flatMap(alarmsOf))];
}
