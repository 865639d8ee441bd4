import { ACCOUNT, identityOf, REGION, type Urls } from '../iam/identity.ts';
import { StartError } from '../startError.ts';

export interface Resource {
  /** The logical ids of the nested stacks and of the resource, such as `V2Auth/PermissionsGet`. */
  readonly path: string;
  readonly type: string;
  readonly ref: string;
  readonly arn: string;
  /** References are resolved at each access, because those of unused properties may be unresolvable. */
  readonly properties: Record<string, unknown>;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface Template {
  readonly Parameters?: Record<string, { Default?: unknown }>;
  readonly Resources: Record<string, RawResource>;
  readonly Outputs?: Record<string, { Value: unknown }>;
}

interface RawResource {
  readonly Type: string;
  readonly Properties?: Record<string, unknown>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
}

export interface StackContext {
  readonly urls: Urls;
  /** `objectKey` is the key of the template's file in S3. */
  nestedTemplate(objectKey: string): Template;
}

/** A stack with its nested stacks. `parameter` returns a value that the parent stack passes. */
export class Stack {
  readonly #name: string;
  readonly #path: string;
  readonly #template: Template;
  readonly #parameter: (name: string) => unknown;
  readonly #context: StackContext;
  readonly #nested = new Map<string, Stack>();

  constructor(
    name: string,
    path: string,
    template: Template,
    parameter: (name: string) => unknown,
    context: StackContext,
  ) {
    this.#name = name;
    this.#path = path;
    this.#template = template;
    this.#parameter = parameter;
    this.#context = context;
  }

  resources(): Resource[] {
    return Object.entries(this.#template.Resources).flatMap(([id, raw]) =>
      isStack(raw) ? this.#nestedStack(id, raw).resources() : [this.#resource(id, raw)],
    );
  }

  /** Throws a `StartError` if the stack has no such output. */
  output(name: string): unknown {
    const output = this.#template.Outputs?.[name];
    if (!output) throw new StartError(`The stack ${this.#name} has no output ${name}.`);
    return this.#resolve(output.Value);
  }

  #resource(id: string, raw: RawResource): Resource {
    const resolve = () => this.#resolve(raw.Properties ?? {}) as Record<string, unknown>;
    const { ref, attribute } = this.#identity(id, raw);
    return {
      path: this.#path + id,
      type: raw.Type,
      ref,
      arn: attribute('Arn'),
      ...(raw.Metadata && { metadata: raw.Metadata }),
      get properties() {
        return resolve();
      },
    };
  }

  #identity(id: string, raw: RawResource) {
    return identityOf(
      raw.Type,
      `${this.#name}-${id}`,
      (name) => this.#resolve(raw.Properties?.[name]),
      this.#context.urls,
    );
  }

  #nestedStack(id: string, raw: RawResource): Stack {
    const cached = this.#nested.get(id);
    if (cached) return cached;
    const parameters = (raw.Properties?.Parameters ?? {}) as Record<string, unknown>;
    const url = String(this.#resolve(raw.Properties?.TemplateURL));
    const objectKey = url.slice(url.lastIndexOf('/') + 1);
    const template = this.#context.nestedTemplate(objectKey);
    const nested = new Stack(
      `${this.#name}-${id}`,
      `${this.#path}${id}/`,
      template,
      (name) => this.#resolve(parameters[name]),
      this.#context,
    );
    this.#nested.set(id, nested);
    return nested;
  }

  #raw(id: string): RawResource {
    const raw = this.#template.Resources[id];
    if (!raw) throw new StartError(`The stack ${this.#name} refers to ${id}, which it does not have.`);
    return raw;
  }

  #ref(id: string): unknown {
    const pseudo: Record<string, string> = {
      'AWS::Region': REGION,
      'AWS::AccountId': ACCOUNT,
      'AWS::Partition': 'aws',
      'AWS::URLSuffix': 'amazonaws.com',
      'AWS::StackName': this.#name,
    };
    if (id === 'AWS::NoValue') return undefined;
    if (pseudo[id] !== undefined) return pseudo[id];
    const parameter = this.#template.Parameters?.[id];
    if (!parameter) return this.#identity(id, this.#raw(id)).ref;
    const value = this.#parameter(id) ?? parameter.Default;
    if (value === undefined) throw new StartError(`The stack ${this.#name} got no value for its parameter ${id}.`);
    return value;
  }

  #attribute(id: string, name: string): unknown {
    const raw = this.#raw(id);
    return isStack(raw)
      ? this.#nestedStack(id, raw).output(name.replace(/^Outputs\./, ''))
      : this.#identity(id, raw).attribute(name);
  }

  #resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#resolve(item)).filter((item) => item !== undefined);
    if (typeof value !== 'object' || value === null) return value;
    const entries: [string, unknown][] = Object.entries(value);
    const [name, argument] = entries[0] ?? ['', undefined];
    if (entries.length === 1 && (name === 'Ref' || name.startsWith('Fn::'))) return this.#intrinsic(name, argument);
    return Object.fromEntries(
      entries.map(([key, item]) => [key, this.#resolve(item)] as const).filter(([, item]) => item !== undefined),
    );
  }

  #intrinsic(name: string, argument: unknown): unknown {
    if (name === 'Ref') return this.#ref(String(argument));
    if (name === 'Fn::GetAtt') {
      const [id = '', ...attribute] = typeof argument === 'string' ? argument.split('.') : (argument as string[]);
      return this.#attribute(id, attribute.join('.'));
    }
    if (name === 'Fn::Sub') return this.#substitute(argument as string | [string, Record<string, unknown>]);
    const values = this.#resolve(argument) as [unknown, unknown];
    if (name === 'Fn::Join') return (values[1] as unknown[]).join(String(values[0]));
    if (name === 'Fn::Split') return String(values[1]).split(String(values[0]));
    if (name === 'Fn::Select') return (values[1] as unknown[])[Number(values[0])];
    throw new StartError(`The stack ${this.#name} uses ${name}, which the local run does not support.`);
  }

  #substitute(argument: string | [string, Record<string, unknown>]): string {
    const [text, values] = typeof argument === 'string' ? [argument, {}] : argument;
    return text.replace(/\$\{(!?)([^}]+)\}/g, (_whole, literal: string, name: string) => {
      if (literal) return `\${${name}}`;
      if (name in values) return String(this.#resolve(values[name]));
      const [id = '', ...attribute] = name.split('.');
      return String(attribute.length > 0 ? this.#attribute(id, attribute.join('.')) : this.#ref(id));
    });
  }
}

function isStack(raw: RawResource): boolean {
  return raw.Type === 'AWS::CloudFormation::Stack';
}
