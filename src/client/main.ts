#!/usr/bin/env node
import { version } from './api/generated.js';

const usage = `parcelhook ${version}\n`;
process.stdout.write(usage);
