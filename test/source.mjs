// Lets Node run the sources of all packages, in threads too: node --import @device-insights/test/source
import { register } from 'tsx/esm/api';

register();
