import type { Code } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { endpointId } from '../../lib/app/endpoint.ts';
import { type Routed, routeKey, routeKeys, type Twin } from '../../lib/app/page.ts';
import { capabilitiesOf } from '../../lib/http/capabilities.ts';
import { ApiFunction } from '../constructs/apiFunction.ts';
import { type DeploymentContext, functionAccess } from '../constructs/environment.ts';
import { createApiInvoker } from '../constructs/invoker.ts';
import { deployInLanes, ROUTE_LANES } from '../constructs/lanes.ts';
import { functionName, pascal } from '../constructs/names.ts';
import { keepWarm } from '../constructs/pings.ts';
import { familyQueries, saveQueries } from '../constructs/savedQueries.ts';
import { NamedStack } from './namedStack.ts';

export interface FamilyProps extends DeploymentContext {
  /** `v2/auth` for paths such as `/v2/auth/token/get`, and `reference` for `/docs`. */
  readonly family: string;
  /** Also the pages and assets of the family. */
  readonly endpoints: readonly Routed[];
  /**
   * The twins of all families. A twin becomes a route of its endpoint's function, so this stack creates the twins of
   * its own endpoints.
   */
  readonly twins: readonly Twin[];
  readonly code: (id: string) => Code;
  readonly apiId: string;
  readonly logRetentionDays: number;
  readonly isWarm: boolean;
}

/**
 * Two limits of AWS. CloudFormation allows 500 resources in a stack, and a function has six with its pings: fewer than
 * 470 together. An inline policy has at most 10,240 characters, and contains the functions' ARNs of up to 114
 * characters each.
 *
 * A twin adds one resource, its route. So five twins count as one function.
 */
const MAX_FUNCTIONS = 78;
const TWINS_PER_FUNCTION = 5;

export class FamilyStack extends NamedStack {
  readonly family: string;
  readonly functions: readonly { readonly endpoint: Routed; readonly construct: ApiFunction }[];

  constructor(scope: Construct, props: FamilyProps) {
    super(scope, pascal(props.family), `The functions of /${props.family}`);
    const twinsOf = ({ path }: Routed) => props.twins.filter(({ twinOf }) => twinOf === path);
    const functionCount =
      props.endpoints.length + Math.ceil(props.endpoints.flatMap(twinsOf).length / TWINS_PER_FUNCTION);
    if (functionCount > MAX_FUNCTIONS) {
      throw new Error(
        `/${props.family} has ${props.endpoints.length} endpoints. With its twins it counts as ${functionCount}, but a family's stack has room for ${MAX_FUNCTIONS}. Give some endpoints a path of another family.`,
      );
    }
    this.family = props.family;

    this.functions = props.endpoints.map((endpoint) => ({
      endpoint,
      construct: this.#createFunction(endpoint, props),
    }));
    const invoker = createApiInvoker(
      this,
      this.functions.map(({ construct }) => construct.function),
    );
    const routes = this.functions.flatMap(({ endpoint, construct }) =>
      construct.addRoutes(props.apiId, [endpoint, ...twinsOf(endpoint)].flatMap(routeKeys), invoker),
    );
    deployInLanes(routes, ROUTE_LANES);
    if (props.isWarm)
      keepWarm(
        this,
        this.functions.map(({ construct }) => construct.function),
      );
    saveQueries(
      this,
      familyQueries,
      this.functions.map(({ construct }) => construct.logGroup),
      props.family,
    );
  }

  #createFunction(endpoint: Routed, props: FamilyProps): ApiFunction {
    return new ApiFunction(this, functionName(endpoint.path), {
      description: `${routeKey(endpoint)}: ${endpoint.summary}`,
      code: props.code(endpointId(endpoint.path)),
      ...functionAccess(capabilitiesOf(endpoint), props),
      logRetentionDays: props.logRetentionDays,
      ...('output' in endpoint && { memoryMb: endpoint.memoryMb, timeoutSeconds: endpoint.timeoutSeconds }),
    });
  }
}
