# What packaging/nix uses of nixpkgs, as far as its evaluation needs it.
{
  outputs = { self }:
    let
      lib = {
        licenses = { mit = "MIT"; lgpl21Plus = "LGPL-2.1-or-later"; asl20 = "Apache-2.0"; publicDomain = "blessing"; };
        mkEnableOption = description: { inherit description; default = false; };
        mkOption = option: option;
        mkIf = condition: content: if condition then content else { };
        types = { package = "package"; attrsOf = type: [ type ]; };
        nameValuePair = name: value: { inherit name value; };
        mapAttrs' = f: set:
          builtins.listToAttrs (map (name: f name set.${name}) (builtins.attrNames set));
        optionalAttrs = condition: set: if condition then set else { };
      };
      stdenv = {
        hostPlatform.system = "x86_64-linux";
        mkDerivation = attributes: derivation {
          name = "${attributes.pname}-${attributes.version}";
          system = "x86_64-linux";
          builder = "/bin/sh";
          args = [ "-c" attributes.installPhase ];
          inherit (attributes) src;
        };
      };
      packages = {
        inherit lib stdenv;
        autoPatchelfHook = "autoPatchelfHook";
        wayland = "wayland";
        libxcb = "libxcb";
        formats.toml = _: { type = "toml"; generate = name: value: builtins.toFile name (builtins.toJSON value); };
        callPackage = path: more:
          let f = import path; in
          f (builtins.intersectAttrs (builtins.functionArgs f) (packages // more));
      };
    in
    {
      inherit lib;
      legacyPackages.x86_64-linux = packages;
    };
}
