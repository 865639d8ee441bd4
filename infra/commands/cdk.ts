/** `npm run cdk -- <arguments>` runs the command of the CDK, for example `npm run cdk -- diff`. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installTool } from '../tools/installTool.ts';

await import(pathToFileURL(join(await installTool('cdk'), 'aws-cdk/bin/cdk')).href);
