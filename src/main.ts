#!/usr/bin/env node
import 'reflect-metadata';
import { fileURLToPath } from 'node:url';
import { createProgram } from './cli/program.js';

await createProgram(fileURLToPath(import.meta.url)).parseAsync();
