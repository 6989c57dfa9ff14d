import { writeFileSync } from 'node:fs';
import { openapiText } from './document.js';
import { OPENAPI_FILE } from './routes.js';

/** `npm run openapi -w gateway`: writes gateway/openapi.json. */
writeFileSync(OPENAPI_FILE, openapiText());
