import { type CfnStack, NestedStack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/**
 * CloudFormation derives the names of functions from the logical id of their stack. Without the hash of the CDK, the
 * names are readable.
 */
export class NamedStack extends NestedStack {
  constructor(scope: Construct, id: string, description: string) {
    super(scope, id, { description });
    (this.nestedStackResource as CfnStack).overrideLogicalId(id);
  }
}
