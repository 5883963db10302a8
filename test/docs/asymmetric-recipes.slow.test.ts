// The recipes of docs/signatures.md for v1a, run as they stand against the published vectors and their forgeries, in
// every language that is on this machine with what it needs. What takes long is left to the full size.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { beforeJavaClass, type Language, testRecipes, without } from '../support/recipes.ts'
import vectors from '../vectors/asymmetric-signatures.json' with { type: 'json' }

const PAGE = readFileSync(new URL('../../docs/signatures.md', import.meta.url), 'utf8')

type Vector = (typeof vectors.callbacks)[number]

interface Case {
  vector: Vector
  keys: readonly string[]
  now: number
  isGood: boolean
}

const [CURRENT = '', PREVIOUS = '', STRANGE = ''] = vectors.keys.map(({ whpk }) => whpk)
const BOTH = [CURRENT, PREVIOUS]

const [FIRST = assert.fail()] = vectors.callbacks
const good = (vector: Vector): Case => ({
  vector,
  keys: BOTH,
  now: vector.webhookTimestamp,
  isGood: true,
})
const cases: readonly Case[] = [
  ...vectors.callbacks.map(good),
  ...vectors.forgeries.map((vector) => ({ ...good(vector), isGood: false })),
  { ...good(FIRST), keys: [STRANGE], isGood: false },
  { ...good(FIRST), keys: [STRANGE, CURRENT] },
  { ...good(FIRST), now: FIRST.webhookTimestamp + 300 },
  { ...good(FIRST), now: FIRST.webhookTimestamp + 301, isGood: false },
  { ...good(FIRST), now: FIRST.webhookTimestamp - 301, isGood: false },
  { ...good({ ...FIRST, webhookSignature: '' }), isGood: false },
]

/** A line each: what may hold anything is in base64. */
const INPUT = cases
  .map(({ vector, keys, now }) => {
    const body = Buffer.from(vector.body).toString('base64')
    const { webhookId, webhookTimestamp, webhookSignature } = vector
    return [body, webhookId, webhookTimestamp, webhookSignature, keys.join(' '), now].join('|')
  })
  .join('\n')

function unless(file: string, args: readonly string[], reason: string): string | null {
  const missing = without(file)
  if (missing !== null) return missing
  try {
    execFileSync(file, args, { stdio: 'ignore' })
    return null
  } catch {
    return reason
  }
}

const LANGUAGES: Record<string, Language> = {
  TypeScript: {
    mark: 'ts',
    whyNot: () => null,
    files: (recipe) => ({
      'recipe.ts': recipe,
      'main.ts': `
import { readFileSync } from 'node:fs'
import { asymmetricHolds } from './recipe.ts'
for (const line of readFileSync(process.argv[2] as string, 'utf8').split('\\n')) {
  const [b, id, timestamp, signatures, keys, now] = line.split('|') as [string, string, string, string, string, string]
  console.log(asymmetricHolds(Buffer.from(b, 'base64'), id, timestamp, signatures, keys.split(' '), Number(now)))
}`,
    }),
    command: [process.execPath, 'main.ts'],
  },
  Python: {
    mark: 'python',
    whyNot: () =>
      unless('python3', ['-c', 'import cryptography'], 'Python’s cryptography is not installed'),
    files: (recipe) => ({
      'main.py': `${recipe}
import sys
for line in open(sys.argv[1], encoding="ascii").read().split("\\n"):
    b, id, timestamp, signatures, keys, now = line.split("|")
    print(asymmetric_holds(base64.b64decode(b), id, timestamp, signatures, keys.split(" "), float(now)))
`,
    }),
    command: ['python3', 'main.py'],
  },
  Go: {
    mark: 'go',
    whyNot: () => without('go'),
    files: (recipe) => ({
      'go.mod': 'module recipe\n\ngo 1.21\n',
      'recipe.go': recipe,
      'main.go': `package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func main() {
	input, _ := os.ReadFile(os.Args[1])
	for _, line := range strings.Split(string(input), "\\n") {
		f := strings.Split(line, "|")
		body, _ := base64.StdEncoding.DecodeString(f[0])
		now, _ := strconv.ParseInt(f[5], 10, 64)
		fmt.Println(asymmetricHolds(body, f[1], f[2], f[3], strings.Split(f[4], " "), now))
	}
}
`,
    }),
    command: ['go', 'run', '.'],
  },
  Java: {
    mark: 'java',
    whyNot: () => without('java'),
    files: (recipe) => ({
      'Main.java': beforeJavaClass(
        recipe,
        `class Main {
    public static void main(String[] args) throws Exception {
        for (String line : java.nio.file.Files.readString(java.nio.file.Path.of(args[0])).split("\\n")) {
            String[] f = line.split("[|]", -1);
            byte[] body = Base64.getDecoder().decode(f[0]);
            System.out.println(PaybellAsymmetric.asymmetricHolds(
                body, f[1], f[2], f[3], List.of(f[4].split(" ")), Long.parseLong(f[5])));
        }
    }
}`,
      ),
    }),
    command: ['java', 'Main.java'],
  },
  PHP: {
    mark: 'php',
    whyNot: () =>
      unless(
        'php',
        ['-r', 'exit(function_exists("sodium_crypto_sign_verify_detached") ? 0 : 1);'],
        'PHP’s sodium is not installed',
      ),
    files: (recipe) => ({
      'main.php': `${recipe}
foreach (explode("\\n", file_get_contents($argv[1])) as $line) {
    [$b, $id, $timestamp, $signatures, $keys, $now] = explode('|', $line);
    $holds = asymmetric_holds(base64_decode($b), $id, $timestamp, $signatures, explode(' ', $keys), (int) $now);
    echo var_export($holds, true), "\\n";
}
`,
    }),
    command: ['php', 'main.php'],
  },
  Ruby: {
    mark: 'ruby',
    whyNot: () => without('ruby'),
    files: (recipe) => ({
      'main.rb': `${recipe}
File.read(ARGV[0]).split("\\n").each do |line|
  b, id, timestamp, signatures, keys, now = line.split('|', -1)
  puts asymmetric_holds?(b.unpack1('m0'), id, timestamp, signatures, keys.split(' '), now.to_i)
end
`,
    }),
    command: ['ruby', 'main.rb'],
  },
  'C#': {
    mark: 'csharp',
    // Its package comes from the network, which tests do not use.
    whyNot: () =>
      without('dotnet') ??
      (process.env.PAYBELL_DOTNET_PACKAGES
        ? null
        : 'BouncyCastle.Cryptography is fetched only with PAYBELL_DOTNET_PACKAGES=1'),
    files: (recipe) => ({
      'Recipe.cs': recipe,
      'Program.cs': `foreach (var line in System.IO.File.ReadAllText(args[0]).Split('\\n'))
{
    var f = line.Split('|');
    var body = System.Convert.FromBase64String(f[0]);
    System.Console.WriteLine(
        PaybellAsymmetric.AsymmetricHolds(body, f[1], f[2], f[3], f[4].Split(' '), long.Parse(f[5])));
}
`,
      'recipe.csproj': `<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType>
<TargetFramework>net$(BundledNETCoreAppTargetFrameworkVersion)</TargetFramework></PropertyGroup>
<ItemGroup><PackageReference Include="BouncyCastle.Cryptography" Version="2.*" /></ItemGroup></Project>`,
    }),
    command: ['dotnet', 'run', '--project', '.', '--'],
  },
  Shell: {
    mark: 'sh',
    whyNot: () =>
      without('openssl') ??
      (/^OpenSSL [3-9]/.test(execFileSync('openssl', ['version'], { encoding: 'utf8' }))
        ? null
        : 'openssl is older than 3'),
    files: (recipe) => ({
      'main.sh': `set -eu
${recipe}
while IFS='|' read -r b id timestamp signatures keys now; do
  printf %s "$b" | openssl base64 -d -A > body.json
  holds=true
  asymmetric_holds body.json "$id" "$timestamp" "$signatures" "$keys" "$now" || holds=false
  echo "$holds"
done < lines
`,
      lines: `${INPUT}\n`,
    }),
    command: ['sh', 'main.sh'],
  },
}

testRecipes({
  page: PAGE,
  mark: 'v1a',
  what: 'the recipe for v1a',
  languages: LANGUAGES,
  input: INPUT,
  expected: cases.map(({ isGood, vector }) => ({ line: String(isGood), of: vector.name })),
})
