import { type CfnStack, NestedStack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/**
 * A nested stack whose logical id in the root stack is its construct id. CloudFormation derives the names of functions
 * from this logical id. Without the hash of the CDK, the names are readable.
 */
export class NamedStack extends NestedStack {
  constructor(scope: Construct, id: string, description: string) {
    super(scope, id, { description });
    (this.nestedStackResource as CfnStack).overrideLogicalId(id);
  }
}
