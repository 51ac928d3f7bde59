"""Prefixes of links that lead to another wiki."""

from typing import Final

INTERWIKI: Final = frozenset(
    # Wikipedia's editions, those that were closed too.
    """
    aa ab ace ady af ak als alt am ami an ang anp ar arc ary arz as ast atj av avk awa ay az azb ba ban bar bat-smg
    bcl be be-tarask be-x-old bg bh bi bjn blk bm bn bo bpy br bs btm bug bxr ca cbk-zam cdo ce ceb ch cho chr chy
    ckb co cr crh cs csb cu cv cy da dag de dga din diq dsb dtp dty dv dz ee egl el eml en eo es et eu ext fa fat ff
    fi fiu-vro fj fo fon fr frp frr fur fy ga gag gan gcr gd gl glk gn gom gor got gpe gsw gu guc gur guw gv ha hak
    haw he hi hif ho hr hsb ht hu hy hyw hz ia iba id ie ig igl ii ik ilo inh io is it iu ja jam jbo jv ka kaa kab
    kbd kbp kcg kg kge ki kj kk kl km kn ko koi kr krc ks ksh ku kus kv kw ky la lad lb lbe lez lfn lg li lij lld
    lmo ln lo lrc lt ltg lv lzh mad mai map-bms mdf mg mh mhr mi min mk ml mn mni mnw mo mos mr mrj ms mt mus mwl my
    myv mzn na nah nan nap nb nds nds-nl ne new ng nia nl nn no nov nqo nr nrm nso nup nv ny oc olo om or os pa pag
    pam pap pcd pcm pdc pfl pi pih pl pms pnb pnt ps pt pwn qu rm rmy rn ro roa-rup roa-tara rsk ru rue rup rw sa
    sah sat sc scn sco sd se sg sgs sh shi shn shy si simple sk skr sl sm smn sn so sq sr srn ss st stq su sv sw syl
    szl szy ta tay tcy tdd te tet tg th ti tig tk tl tly tn to tpi tr trv ts tt tum tw ty tyv udm ug uk ur uz ve vec
    vep vi vls vo vro wa war wo wuu xal xh xmf yi yo yue za zea zgh zh zh-cfr zh-classical zh-min-nan zh-yue zu
    """.split()
    # Their sister projects, and the sites of the movement.
    + """
    b c cc commons d f foundation incubator m mediazilla meta metawiki metawikimedia mw n outreach phab phabricator
    q s sitematrix species strategy testwiki toollabs toolforge translatewiki v voy w wikibooks wikidata
    wikifunctions wikimania wikimedia wikinews wikipedia wikiquote wikisource wikispecies wikitech wikiversity
    wikivoyage wikt wiktionary wmf
    """.split()
    # Other sites that articles link to in this way.
    + "arxiv bugzilla doi gerrit google hdl imdbname imdbtitle oeis orcid pmid rfc sourceforge ticket wikia".split()
)
"""Lower-case prefixes that are known on all of Wikimedia's wikis. Their own maps have some 800, most of them unused: a
prefix that is missing here makes a title of which there is no page, and so no link."""
