// Imported before a test file: its tests then have their full size.

import { chooseFullSize } from './size.ts'

chooseFullSize()
