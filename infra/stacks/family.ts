import { type CfnStack, NestedStack } from 'aws-cdk-lib';
import type { Code, Function } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { endpointId } from '../../lib/app/endpoint.ts';
import { capabilitiesOf } from '../../lib/http/capabilities.ts';
import { type Routed, routeKey, type Twin } from '../../lib/app/page.ts';
import { ApiFunction, createInvoker } from '../constructs/apiFunction.ts';
import { functionAccess, type DeploymentContext } from '../constructs/environment.ts';
import { functionName, pascal } from '../constructs/names.ts';
import { familyQueries, saveQueries } from '../monitoring/savedQueries.ts';

export interface FamilyProps extends DeploymentContext {
  /** As `familyOf` returns it, such as `v2/auth`. */
  readonly family: string;
  /** The endpoints and pages of the family. */
  readonly endpoints: readonly Routed[];
  /** The twins of all families. */
  readonly twins: readonly Twin[];
  readonly code: (id: string) => Code;
  readonly apiId: string;
  readonly logRetentionDays: number;
}

/**
 * Limit of functions in a family. Five resources for each keep the stack below 400; CloudFormation allows 500. The ARNs
 * of all functions (up to 114 characters) must fit into one inline policy of 10,240 characters. Five twins, of one
 * resource each, count as one function.
 */
const MAX_FUNCTIONS = 78;
const TWINS_PER_FUNCTION = 5;

/** The stack of one API family: its functions with their log groups, roles, integrations and routes. */
export class FamilyStack extends NestedStack {
  readonly family: string;
  readonly functions: readonly {
    readonly endpoint: Routed;
    readonly function: Function;
    readonly logGroup: LogGroup;
  }[];
  /** The logical id of this stack in the template of the root stack. */
  readonly stackResource: string;

  constructor(scope: Construct, props: FamilyProps) {
    const id = pascal(props.family);
    super(scope, id, { description: `The functions of /${props.family}` });
    // The logical id becomes part of the name of every function. Without CDK's hash the names are readable.
    (this.nestedStackResource as CfnStack).overrideLogicalId(id);
    this.stackResource = id;
    const twinsOf = ({ path }: Routed) => props.twins.filter(({ twinOf }) => twinOf === path);
    const taken = props.endpoints.length + Math.ceil(props.endpoints.flatMap(twinsOf).length / TWINS_PER_FUNCTION);
    if (taken > MAX_FUNCTIONS) {
      throw new Error(
        `/${props.family} has ${props.endpoints.length} endpoints, with twins as many as ${taken}; a family's stack takes ${MAX_FUNCTIONS}. Give some of them a path of another family.`,
      );
    }
    this.family = props.family;

    const functions = props.endpoints.map((endpoint) => ({ endpoint, ...this.#createFunction(endpoint, props) }));
    const invoker = createInvoker(
      this,
      functions.map((made) => made.function),
    );
    for (const { endpoint, construct } of functions)
      construct.addRoutes(props.apiId, [routeKey(endpoint), ...twinsOf(endpoint).map(routeKey)], invoker);
    this.functions = functions;
    saveQueries(
      this,
      familyQueries,
      functions.map(({ construct }) => construct.logGroup),
      props.family,
    );
  }

  #createFunction(endpoint: Routed, props: FamilyProps) {
    const construct = new ApiFunction(this, functionName(endpoint.path), {
      description: `${routeKey(endpoint)}: ${endpoint.summary}`,
      code: props.code(endpointId(endpoint.path)),
      ...functionAccess(capabilitiesOf(endpoint), props),
      logRetentionDays: props.logRetentionDays,
      memoryMb: endpoint.memoryMb,
      timeoutSeconds: endpoint.timeoutSeconds,
    });
    return { construct, function: construct.function, logGroup: construct.logGroup };
  }
}
