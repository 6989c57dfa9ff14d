import { writeFileSync } from 'node:fs';
import { asyncapi } from '@device-insights/contract/asyncapi';
import { stringify } from 'yaml';
import { openapiText } from './document.js';
import { OPENAPI_FILE } from './routes.js';

/** `npm run openapi -w gateway`: writes gateway/openapi.json and gateway/asyncapi.yaml. */
writeFileSync(OPENAPI_FILE, openapiText());
const yaml = stringify(asyncapi(), { lineWidth: 120, aliasDuplicateObjects: false });
writeFileSync(new URL('asyncapi.yaml', OPENAPI_FILE), `# Made by npm run openapi -w gateway\n${yaml}`);
