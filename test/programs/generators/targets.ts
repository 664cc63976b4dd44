/** Generators and libraries that are installed once, for all targets that use them. */
interface Kit {
  name: string;
  needs: string[];
  /** Commands of a shell, in the kit's folder. */
  install: string;
  /** Folder of its programs. */
  programs: string;
}

export interface Target {
  name: string;
  /** Its folder is in that of the first. */
  kits: Kit[];
  /** Programs on the PATH that it needs besides those of its kit. */
  needs?: string[];
  /** Commands of a shell. The last line that they print is JSON with a `webhookId` and a `trackingId`. */
  script: string;
}

const npm = (...packages: string[]) =>
  `echo '{"private": true}' > package.json; npm install --prefer-offline --ignore-scripts --no-audit --no-fund ${packages.join(' ')}`;

const typescript: Kit = {
  name: 'typescript',
  needs: ['npm'],
  install: npm(
    'openapi-typescript@7.13.0',
    'openapi-fetch@0.17.0',
    'orval@8.38.0',
    '@hey-api/openapi-ts@0.99.0',
    'axios@1.21.1',
    'typescript@5.9.3',
    '@types/node@20.19.43',
  ),
  programs: 'node_modules/.bin',
};

const postman: Kit = {
  name: 'postman',
  needs: ['npm'],
  install: npm('newman@6.2.2', 'openapi-to-postmanv2@6.3.3'),
  programs: 'node_modules/.bin',
};

const pip = (...packages: string[]) =>
  `python3 -m venv .; bin/pip install --quiet --disable-pip-version-check ${packages.join(' ')}`;

const python: Kit = {
  name: 'python',
  needs: ['python3'],
  install: pip('openapi-python-client==0.29.1', 'httpx==0.28.1'),
  programs: 'bin',
};

/** OpenAPI Generator, and what its Python clients need. */
const openapi: Kit = {
  name: 'openapi-generator',
  needs: ['python3', 'java'],
  install: pip(
    'openapi-generator-cli==7.26.0',
    'pydantic==2.14.4',
    'python-dateutil==4.0.0',
    'urllib3==2.8.0',
  ),
  programs: 'bin',
};

/** Checks the types of a program and runs it. */
const runTypescript = (name: string) => `
  node ${process.cwd()}/node_modules/typescript7/bin/tsc --ignoreConfig --noEmit --strict --skipLibCheck \
    --target es2022 --module preserve --moduleResolution bundler --types node ${name}.ts
  esbuild --bundle --platform=node --packages=external --format=esm --log-level=error --outfile=program.mjs ${name}.ts
  node program.mjs`;

/** Go fetches what a module requires: there is nothing to install. */
const go: Kit = { name: 'go', needs: ['go'], install: ':', programs: '.' };

/** Compiles a program with the package `generated/api`, in a module of these requirements, and runs it. */
const runGo = (name: string, ...required: string[]) => `
  go get ${required.join(' ')}
  cp ${name}.go.txt main.go
  go mod tidy
  go run .`;

const openapiGenerator = (generator: string, options = '') =>
  `openapi-generator-cli generate -g ${generator} -i api.json ${options} > generator.log`;

export const targets: Target[] = [
  {
    name: 'openapi-fetch',
    kits: [typescript],
    script: `openapi-typescript api.json -o generated/api.ts; ${runTypescript('openapi-fetch')}`,
  },
  { name: 'orval', kits: [typescript], script: `orval --config orval.config.mjs; ${runTypescript('orval')}` },
  {
    name: 'hey-api',
    kits: [typescript],
    script: `openapi-ts -i api.json -o generated; ${runTypescript('hey-api')}`,
  },
  { name: 'postman', kits: [postman], script: 'node postman.mjs' },
  {
    name: 'openapi-python-client',
    kits: [python],
    script: `
      openapi-python-client generate --path api.json --meta none --output-path generated
      python -m compileall -q generated
      python openapi-python-client.py`,
  },
  {
    name: 'typescript-fetch',
    kits: [typescript, openapi],
    script: `${openapiGenerator('typescript-fetch', '-o generated')}; ${runTypescript('typescript-fetch')}`,
  },
  {
    name: 'typescript-axios',
    kits: [typescript, openapi],
    script: `${openapiGenerator('typescript-axios', '-o generated')}; ${runTypescript('typescript-axios')}`,
  },
  {
    name: 'openapi-generator-python',
    kits: [openapi],
    script: `
      ${openapiGenerator('python', '-o generated')}
      python -m compileall -q generated/openapi_client
      PYTHONPATH=generated python openapi-generator.py`,
  },
  {
    name: 'openapi-generator-java',
    kits: [openapi],
    needs: ['javac', 'mvn'],
    script: `
      ${openapiGenerator('java', '--library native -o generated')}
      mvn -q -f generated/pom.xml dependency:copy-dependencies -DincludeScope=compile -DoutputDirectory=../lib > mvn.log
      javac -encoding UTF-8 -cp 'lib/*' -d classes $(find generated/src/main -name '*.java') Main.java
      java -cp 'classes:lib/*' Main`,
  },
  {
    name: 'openapi-generator-csharp',
    kits: [openapi],
    needs: ['dotnet'],
    script: `
      ${openapiGenerator('csharp', '--library httpclient -o generated')}
      dotnet new console --output program > /dev/null
      cp Program.cs program/
      dotnet add program reference generated/src/Org.OpenAPITools > /dev/null
      dotnet run --project program`,
  },
  {
    name: 'openapi-generator-go',
    kits: [go, openapi],
    script: `
      ${openapiGenerator('go', '-o api --additional-properties=packageName=api,withGoMod=false')}
      rm -rf api/test
      go mod init generated
      ${runGo('openapi-generator', 'gopkg.in/validator.v2@v2.0.1')}`,
  },
  {
    name: 'oapi-codegen',
    kits: [go],
    script: `
      go mod init generated
      mkdir api
      go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 \
        -generate types,client -package api api.json > api/api.go
      ${runGo('oapi-codegen', 'github.com/oapi-codegen/runtime@v1.9.0')}`,
  },
];
