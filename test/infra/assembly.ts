import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { App, type Stack } from 'aws-cdk-lib/core';
import { projectContext } from '../../infra/build/projectContext.ts';
import { readSettings, type Settings } from '../../infra/settings/settings.ts';
import { Backend } from '../../infra/stacks/backend.ts';
import type { Routed } from '../../lib/app/page.ts';
import type { Worker } from '../../lib/app/worker.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { workers as allWorkers } from './workers.ts';

export interface Resource {
  readonly Type: string;
  readonly Properties: Record<string, any>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly DependsOn?: string[];
}

export interface Template {
  readonly Resources: Record<string, Resource>;
  readonly Outputs?: Record<string, { Value: unknown }>;
}

export interface Assembly {
  readonly root: Template;
  /** The templates by family, such as `v2/auth`. Their parameters are replaced by the values from the root stack. */
  readonly families: ReadonlyMap<string, Template>;
  /** The template of the workers, with parameters replaced. Undefined if there are no workers. */
  readonly workers: Template | undefined;
  /** The templates of the root, of the families, of the workers and of the push service. */
  readonly templates: readonly Template[];
}

interface AppOptions {
  /** The workers to deploy. The default is all registered workers, and a fake worker for each source that has none. */
  readonly workers?: readonly Worker[];
}

/** The output folders of the apps. The CDK itself would never remove them. */
const outdirs = temporaryFolder();

/**
 * Returns an app with these endpoints. The code of a function is only its id, so tests can see to which function a
 * route leads.
 */
export function appOf(
  endpoints: readonly Routed[],
  settings: Partial<Settings> = {},
  { workers = allWorkers }: AppOptions = {},
): { app: App; backend: Backend; outdir: string } {
  const outdir = mkdtempSync(join(outdirs, 'app-'));
  const context = projectContext();
  // Turns off stack traces of constructs, because collecting them is slow.
  const app = new App({
    context: { 'aws:cdk:disable-stack-trace': true, 'aws:cdk:enable-asset-metadata': true, ...context },
    builtinCloudFormationValidation: false,
    treeMetadata: false,
    outdir,
  });
  const backend = new Backend(app, 'CollaborationBackend', {
    endpoints,
    workers,
    code: (id) => Code.fromInline(id),
    settings: readSettings((name) => settings[name]),
  });
  return { app, backend, outdir };
}

/** Writes the templates of these endpoints into a new folder. Bundles no code. */
export function synthesised(...of: Parameters<typeof appOf>): ReturnType<typeof appOf> {
  const made = appOf(...of);
  made.app.synth();
  return made;
}

/** Returns the text of each template in an output folder, by file name. */
export function templateTexts(outdir: string): Map<string, string> {
  const files = readdirSync(outdir).filter((name) => name.endsWith('.template.json'));
  return new Map(files.map((name) => [name, readFileSync(join(outdir, name), 'utf8')]));
}

/** Returns the templates of these endpoints. Bundles no code. */
export function assemblyOf(...of: Parameters<typeof appOf>): Assembly {
  const { outdir, backend } = synthesised(...of);
  const read = (file: string) => JSON.parse(readFileSync(join(outdir, file), 'utf8')) as Template;
  const root = read(backend.templateFile);
  const nested = ({ templateFile, node: { id } }: Stack) => {
    const parameters = root.Resources[id]?.Properties.Parameters as Record<string, unknown>;
    return inline(read(templateFile), parameters) as Template;
  };
  const families = new Map(backend.families.map((family) => [family.family, nested(family)]));
  const others = [backend.workers, backend.live].flatMap((stack) => (stack ? [nested(stack)] : []));
  return {
    root,
    families,
    workers: backend.workers && others[0],
    templates: [root, ...families.values(), ...others],
  };
}

/** Replaces the parameters of a nested template by the values that the root stack passes. */
function inline(value: unknown, parameters: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => inline(item, parameters));
  if (typeof value !== 'object' || value === null) return value;
  const { Ref } = value as { Ref?: string };
  if (Ref !== undefined && Ref in parameters) return parameters[Ref];
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inline(item, parameters)]));
}

/** Returns the resources of templates, by default of all types. */
export function resources(
  of: Pick<Template, 'Resources'> | readonly Pick<Template, 'Resources'>[],
  type?: string,
): [id: string, resource: Resource][] {
  return [of]
    .flat()
    .flatMap(({ Resources }) => Object.entries(Resources))
    .filter(([, { Type }]) => type === undefined || Type === type);
}

export const functionsOf = (of: Parameters<typeof resources>[0]) => resources(of, 'AWS::Lambda::Function');

/** Returns the function whose code is this id. */
export function functionOf(template: Template, id: string): [logicalId: string, resource: Resource] {
  const [functionWithCode, ...more] = functionsOf(template).filter(
    ([, { Properties }]) => Properties.Code.ZipFile === id,
  );
  if (!functionWithCode || more.length > 0) throw new Error(`${id}: not exactly one function`);
  return functionWithCode;
}

/** Returns the function that a route's integration calls. */
export function functionBehind(template: Template, routeKey: string): [id: string, resource: Resource] {
  const [[, route] = [], ...more] = resources(template, 'AWS::ApiGatewayV2::Route').filter(
    ([, { Properties }]) => Properties.RouteKey === routeKey,
  );
  if (!route || more.length > 0) throw new Error(`${routeKey}: not exactly one route`);
  const integration = template.Resources[route.Properties.Target['Fn::Join'][1][1].Ref]!;
  const id = integration.Properties.IntegrationUri['Fn::GetAtt'][0] as string;
  return [id, template.Resources[id]!];
}

export interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource: unknown;
}

export function statementsOf(role: Resource): Statement[] {
  return (role.Properties.Policies as { PolicyDocument: { Statement: Statement[] } }[]).flatMap(
    ({ PolicyDocument }) => PolicyDocument.Statement,
  );
}

export function roleOf(template: Template, resource: Resource): Resource {
  return template.Resources[resource.Properties.Role['Fn::GetAtt'][0]]!;
}

/** Returns the functions that have the same role as a function. */
export function functionsWithRoleOf(template: Template, { Properties: { Role } }: Resource): string[] {
  return functionsOf(template)
    .filter(([, { Properties }]) => isDeepStrictEqual(Properties.Role, Role))
    .map(([id]) => id);
}

/** Returns a text `resource action` for every permission. */
export function pairsOf(statements: readonly { Action: string | string[]; Resource: unknown }[]): string[] {
  return statements
    .flatMap(({ Action, Resource: resource }) =>
      list(resource).flatMap((target) => list(Action).map((action) => `${JSON.stringify(target)} ${action}`)),
    )
    .sort();
}

export const list = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value]);

/** Returns whether a value of a template stands for a value that is known only in a deployment. */
export function isReference(value: unknown): boolean {
  const [name = '', ...more] = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  return more.length === 0 && /^(Ref$|Fn::)/.test(name);
}
