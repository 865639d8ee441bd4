import { readFileSync } from 'node:fs';
import { CloudFormationValidatePlugin, type PolicyValidationStack } from 'aws-cdk-lib/core';

/** The process of `templateViolations`. It reads the list of templates from stdin, and writes the report to stdout. */
const stackTemplates = JSON.parse(readFileSync(0, 'utf8')) as PolicyValidationStack[];
const report = new CloudFormationValidatePlugin().validate({ stackTemplates } as never);
process.stdout.write(JSON.stringify(report));
